internal import CryptoCore

/// Why a store did not open, for as long as another attempt would end the same way.
///
/// That is while its header has the same version, and every source that it has a slot for leaves the same
/// ``SourceTrace``. A source that leaves none is asked each time, since what keeps it from answering may
/// pass without a sign, as a keyring is unlocked.
struct Refusal {
  let error: StorageError
  private let headerVersion: UInt64
  private let asked: Sources

  /// The sources that are asked for the key of a header, and what was seen of them before.
  struct Sources {
    fileprivate let traces: [(candidate: KeySource.Candidate, trace: Int?)]

    init(_ source: KeySource, for header: StoreHeader) {
      traces = source.candidates.filter { !header.slots(of: $0).isEmpty }
        .map { ($0, $0.trace()) }
    }
  }

  /// Codes of failures that end with a change of a source or of the header, and with nothing else.
  private static let lasting: Set<StorageError.Code> = [
    .wrongKey, .keyUnavailable, .denied, .damaged, .invalid,
  ]

  /// Nil for a failure that may end by itself.
  init?(_ error: StorageError, _ headerVersion: UInt64, asked: Sources) {
    guard Self.lasting.contains(error.code) else { return nil }
    self.error = error
    self.headerVersion = headerVersion
    self.asked = asked
  }

  /// Whether another attempt would end the same way.
  func holds(for headerVersion: UInt64) -> Bool {
    self.headerVersion == headerVersion
      && asked.traces.allSatisfy { $0.trace != nil && $0.candidate.trace() == $0.trace }
  }
}

/// The last passphrase that did not open a store, so that it is not stretched again to the same end.
///
/// Of a source that has to be asked each time, as a closure. The passphrase is not kept, but its hash
/// under a key in secure memory that is made for this and told nobody.
final class RefusedPassphrase: Sendable {
  private struct Attempt: Equatable {
    let hash: NameHash
    let slots: [Slot]
  }
  private let state = Lock<(key: KeyedHash?, last: Attempt?)>((nil, nil))

  /// Whether `material` is a passphrase that was tried on these slots before.
  func wasTried(_ material: KeyMaterial, on slots: [Slot]) throws(StorageError) -> Bool {
    guard let last = state.withLock({ $0.last }) else { return false }
    return try attempt(material, slots) == last
  }

  /// Remembers that `material` opens none of the slots.
  func remember(_ material: KeyMaterial, for slots: [Slot]) throws(StorageError) {
    guard let attempt = try attempt(material, slots) else { return }
    state.withLock { $0.last = attempt }
  }

  private func attempt(
    _ material: KeyMaterial, _ slots: [Slot]
  ) throws(StorageError) -> Attempt? {
    guard case .passphrase(let bytes) = material else { return nil }
    let hash = try cryptography { () throws(CryptoError) in
      let key = try hashKey()
      return try bytes.withBytes { (span) throws(CryptoError) in try key.hash(span) }
    }
    return Attempt(hash: hash, slots: slots)
  }

  private func hashKey() throws(CryptoError) -> KeyedHash {
    if let key = state.withLock({ $0.key }) { return key }
    let fresh = try KeyedHash(SymmetricKey.random())
    return state.withLock { state in
      let key = state.key ?? fresh
      state.key = key
      return key
    }
  }
}
