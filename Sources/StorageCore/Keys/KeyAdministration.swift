public import CryptoCore

/// One way to open a store, as it is recorded there.
///
/// Says nothing secret.
public struct KeySlot: Hashable, Sendable {
  /// The slot's number, unique among the slots that are there.
  public let id: UInt32
  /// The kind of source that opens it, as in "passphrase".
  public let kind: String
  /// What tells the source from others of its kind: a file's name, a variable's name.
  public let identifier: String
  /// Whether the source gives a passphrase, as a key file does whose content is no key of 32 bytes.
  ///
  /// It is stretched, and as good as it is hard to guess.
  public let isPassphrase: Bool
  /// How the derivation falls short of what a slot made now takes at least; nil where it does not.
  ///
  /// A slot of an earlier release may. Whoever has a copy of the store then guesses faster: make another
  /// with ``KeyAdministration/change(to:)``. Whether the passphrase is long enough, a slot does not show.
  public let weakness: String?

  init(_ slot: Slot) {
    id = slot.id
    kind = "\(slot.kind)"
    identifier = slot.identifier
    isPassphrase = slot.derivation != .keyed
    weakness = PassphraseFloor.fault(of: slot.derivation)
  }
}

/// Changes how a store is opened and what it is sealed with.
///
/// Each call is one atomic change of the store's header, or many small ones that can be resumed:
/// whatever dies on whatever line, the store opens. Backups made before still open with the old
/// secret. Other processes follow at their next access.
public struct KeyAdministration: Sendable {
  let store: SealedStore

  /// The ways to open the store.
  ///
  /// - Throws: `StorageError` when the store can't be opened; `unsupported` for one without slots.
  public func slots() throws(StorageError) -> [KeySlot] {
    guard let delegate = store.keyed else { throw Self.noSlots }
    guard let bytes = try delegate.header().header else { return [] }
    do throws(StorageError) {
      return try StoreHeader(reading: bytes).slots.map { KeySlot($0) }
    } catch {
      throw error.at(delegate.location)
    }
  }

  /// The slot by which this storage's own source opens the store now; its key is asked for again.
  ///
  /// - Returns: nil for a store in which nothing was saved.
  /// - Throws: `StorageError`, as an access: `wrongKey` or `keyUnavailable` when the source opens none.
  ///   None is made.
  public func ownSlot() throws(StorageError) -> KeySlot? {
    try opening().map { KeySlot($0.slot) }
  }

  /// Makes another source open the store, beside those that do.
  ///
  /// - Parameter source: asked for its key now; one that makes keys makes one if it has none.
  /// - Returns: the new slot.
  /// - Throws: `StorageError`: `invalid` when the source opens the store already, or gives a passphrase
  ///   of fewer than 8 bytes or with a weak ``PassphraseDerivation``, `full` when the store
  ///   has 32 slots, `keyUnavailable` when the source gives no key.
  @discardableResult
  public func add(_ source: KeySource) throws(StorageError) -> KeySlot {
    let material = try store.keys.material(of: source)
    // The same key from another place is another slot: a store asks the sources that it has slots for.
    if let slot = try slot(openedBy: material.1, of: material.0) {
      throw Self.isOpener(slot, "that key", "").at(store.keyed?.location)
    }
    let new = try SlotMaterial(of: material)
    var slot: Slot?
    try store.keys.update { (draft, _) throws(StorageError) in
      slot = try Self.append(new, to: &draft)
    }
    return KeySlot(slot!)
  }

  /// Makes `source` the one that opens the store: a new passphrase, a new key file.
  ///
  /// All other slots go, but for recovery keys. The data is not touched. This storage uses the new
  /// source from now on; the application lists it from its next start.
  ///
  /// - Throws: `StorageError`; the store then still opens with the old source. With the code
  ///   `outcomeUnknown`, as of a keyring whose service went away, it opens with one of the two: keep
  ///   both until a next call succeeds.
  public func change(to source: KeySource) throws(StorageError) {
    let new = try SlotMaterial(of: try store.keys.material(of: source))
    try store.keys.update(source: source) { (draft, _) throws(StorageError) in
      let id = draft.header.freeSlotID
      draft.header.slots.removeAll { $0.kind != .recovery }
      _ = try Self.append(new, to: &draft, id: id)
    }
  }

  /// Removes a slot.
  ///
  /// - Throws: `StorageError`: `invalid` for the last slot, or for one that is not there.
  public func remove(_ id: UInt32) throws(StorageError) {
    try store.keys.update { (draft, _) throws(StorageError) in
      guard draft.header.slots.contains(where: { $0.id == id }) else {
        throw StorageError(.invalid, "the store has no key slot \(id)")
      }
      guard draft.header.slots.count > 1 else {
        throw StorageError(.invalid, "the last key slot can't be removed; add another first")
      }
      draft.header.slots.removeAll { $0.id == id }
    }
  }

  /// Makes a recovery key and a slot that it opens.
  ///
  /// - Returns: the key, to be written down and kept elsewhere; it can't be had again.
  /// - Throws: `StorageError`: `full` when the store has 32 slots.
  public func exportRecoveryKey() throws(StorageError) -> RecoveryKey {
    let key = try RecoveryKey.random()
    try add(.recovery(key))
    return key
  }

  /// The slot that `material` opens, if there is one: of `candidate`, or of whatever source.
  ///
  /// Costs a derivation for each slot of a passphrase, where it is one.
  func slot(
    openedBy material: KeyMaterial, of candidate: KeySource.Candidate? = nil
  ) throws(StorageError) -> Slot? {
    guard let bytes = try store.keyed?.header().header else { return nil }
    let header = try StoreHeader(reading: bytes)
    // Whoever has the text of a key has the key, whichever of the two the store was opened with.
    let readings = try candidate == nil ? material.readings : [material]
    for slot in candidate.map({ header.slots(of: $0) }) ?? header.slots {
      for reading in readings {
        do throws(StorageError) {
          if try slot.root(with: reading, store: header.store) != nil { return slot }
        } catch {
          // What can't be derived here can't be compared.
          guard error.code == .unsupported else { throw error }
        }
      }
    }
    return nil
  }

  /// The key or passphrase that opens the store, of the source that it is from; none is made.
  func ownMaterial() throws(StorageError) -> (KeySource.Candidate, KeyMaterial) {
    guard let opening = try opening() else { throw StoreKeys.isNew }
    return (opening.opener, opening.material)
  }

  /// How the storage's own source opens the store, if there is one.
  private func opening() throws(StorageError) -> Opening? {
    guard let delegate = store.keyed else { throw Self.noSlots }
    guard let bytes = try delegate.header().header else { return nil }
    do throws(StorageError) {
      return try StoreHeader(reading: bytes)
        .unwrapRoot(by: store.keys.source, of: delegate.location)
    } catch {
      throw error.at(delegate.location)
    }
  }

  static func append(
    _ new: SlotMaterial, to draft: inout HeaderDraft, id: UInt32? = nil
  ) throws(StorageError) -> Slot {
    guard draft.header.slots.count < StoreHeader.slotLimit else {
      throw StorageError(.full, "a store has at most \(StoreHeader.slotLimit) key slots")
    }
    let slot = try Slot(
      id: id ?? draft.header.freeSlotID, new, root: draft.root.key, store: draft.header.store)
    draft.header.slots.append(slot)
    return slot
  }

  static func isOpener(_ slot: Slot, _ what: String, _ advice: String) -> StorageError {
    StorageError(
      .invalid, "\(what) opens the store already, by slot \(slot.id), \(slot.title)\(advice)")
  }

  static let noSlots = StorageError(
    .unsupported, "this store's key is the application's own; it has no slots")
}

extension KeyAdministration: RedactedDescription {}

extension Storage {
  /// Changes how the store is opened and what it is sealed with.
  public var keyAdministration: KeyAdministration { KeyAdministration(store: store) }
}
