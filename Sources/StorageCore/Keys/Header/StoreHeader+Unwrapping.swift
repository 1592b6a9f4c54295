internal import CryptoCore

extension StoreHeader {
  /// Unwraps the root key with the first listed source that has a slot and is not absent.
  ///
  /// - Parameters:
  ///   - source: the sources, in the order in which they are asked.
  ///   - location: the path of the store, for errors.
  /// - Returns: the root key of this header, and the slot, source and material that opened it.
  /// - Throws: `wrongKey` when the key or passphrase of a source opens none of the source's slots;
  ///   `keyUnavailable` when all sources are absent; `damaged` when a slot holds another root key;
  ///   or the error of a source.
  func unwrapRoot(
    by source: KeySource, of location: String?
  ) throws(StorageError) -> Opening {
    var missing: KeySource.Candidate?
    let candidates = source.candidates
    for (index, candidate) in candidates.enumerated() {
      let slots = slots(of: candidate)
      // A source without a slot is not asked, and an absent source is skipped.
      guard !slots.isEmpty else { continue }
      guard var material = try candidate.read() else {
        if missing == nil, candidate.path() != nil { missing = candidate }
        continue
      }
      if let opening = try opening(with: material, of: candidate, slots, location) {
        return opening
      }
      if let again = try candidate.readAgain() {
        material = again
        if let opening = try opening(with: again, of: candidate, slots, location) {
          return opening
        }
      }
      // While keys are replaced, a program lists the new one and the old one.
      let hasAnother = candidates[(index + 1)...].contains {
        $0.kind == candidate.kind && $0.identifier == candidate.identifier
      }
      if hasAnother { continue }
      throw StorageError.wrongKey(of: candidate, gave: material, opens: self, store: location)
    }
    if let missing { throw .keyFileGone(missing, opens: self, store: location) }
    throw .noSource(of: source, opens: self)
  }

  /// Opens one of the slots with the material; nil if it opens none.
  private func opening(
    with material: KeyMaterial, of candidate: KeySource.Candidate, _ slots: [Slot],
    _ location: String?
  ) throws(StorageError) -> Opening? {
    for slot in slots {
      guard let root = try slot.root(with: material, store: store) else { continue }
      guard try RootKey(root, store: store).isRoot(of: self) else {
        throw StorageError(
          .damaged, "a key slot holds the root key of another store; restore it from a backup")
      }
      let opening = Opening(root: root, slot: slot, opener: candidate, material: material)
      PassphraseFloor.report(opening, of: self.store, at: location)
      return opening
    }
    return nil
  }
}

/// How a store was opened.
struct Opening {
  let root: SymmetricKey
  let slot: Slot
  /// The source, and below its key or passphrase.
  let opener: KeySource.Candidate
  let material: KeyMaterial
}
