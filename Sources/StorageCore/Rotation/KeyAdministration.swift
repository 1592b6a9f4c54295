public import CryptoCore

/// One way to open a store, as recorded in the store.
///
/// A slot shows nothing secret.
public struct KeySlot: Hashable, Sendable {
  /// The slot's number, unique among the slots of the store.
  public let id: UInt32
  /// The kind of source that opens the slot, such as "passphrase".
  public let kind: String
  /// Tells the source from others of its kind, such as the name of a file or of a variable.
  public let identifier: String
  /// Whether the source gives a passphrase instead of a key.
  ///
  /// A key file also gives a passphrase if its content is not a key of 32 bytes. A passphrase is
  /// stretched, and protects the store only as well as the passphrase is hard to guess.
  public let isPassphrase: Bool
  /// Why the slot's key derivation is weaker than the minimum for new slots; nil when it is not
  /// weaker.
  ///
  /// A slot made by an earlier release can be weaker. Someone with a copy of the store can then
  /// guess the passphrase faster: make another slot with ``KeyAdministration/change(to:)``. A slot
  /// does not show whether the passphrase is long enough.
  public let weakness: String?

  /// Whether a recovery key opens the slot.
  package var isOfRecoveryKey: Bool { kind == "\(SlotKind.recovery)" }

  init(_ slot: Slot) {
    id = slot.id
    kind = "\(slot.kind)"
    identifier = slot.identifier
    isPassphrase = slot.derivation != .keyed
    weakness = PassphraseFloor.fault(of: slot.derivation)
  }
}

/// Changes which sources open a store, and which keys seal its records.
///
/// Each call makes one atomic change of the store's header, or many small changes that can be
/// resumed. If the process dies at any point, the store still opens. Backups made before a change
/// still open with the old secret. Other processes use the new keys from their next access.
public struct KeyAdministration: Sendable, BlockingCalls {
  let store: SealedStore

  /// Lists the ways to open the store.
  ///
  /// - Returns: the slots; none for a store in which nothing was saved.
  /// - Throws: `StorageError` when the store can't be read; `unsupported` for a store without
  ///   slots.
  public func slots() throws(StorageError) -> [KeySlot] {
    try requireSlots()
    guard let bytes = try store.place.header().header else { return [] }
    do throws(StorageError) {
      return try StoreHeader(reading: bytes).slots.map { KeySlot($0) }
    } catch {
      throw error.at(store.place.location)
    }
  }

  /// What tells each slot from later ones with the same number, by the slot's number: a random text.
  ///
  /// - Throws: as ``slots()``.
  package func slotMarks() throws(StorageError) -> [UInt32: String] {
    try requireSlots()
    guard let bytes = try store.place.header().header else { return [:] }
    return Self.marks(of: try StoreHeader(reading: bytes).slots)
  }

  private static func marks(of slots: [Slot]) -> [UInt32: String] {
    var marks: [UInt32: String] = [:]
    for slot in slots {
      marks[slot.id] = slot.salt.prefix(16).map { String($0, radix: 16) }.joined(separator: ".")
    }
    return marks
  }

  /// Finds the slot with which this storage's own key source opens the store now.
  ///
  /// Asks the source for its key again, and makes no key.
  ///
  /// - Returns: the slot, or nil for a store in which nothing was saved.
  /// - Throws: `StorageError`, as a read does: `wrongKey` or `keyUnavailable` when the source opens
  ///   no slot.
  package func ownSlot() throws(StorageError) -> KeySlot? {
    try opening().map { KeySlot($0.slot) }
  }

  /// Finds all slots that this storage's own key source opens now, whether it uses them or not.
  ///
  /// Makes no key. For a passphrase, costs one key derivation for each of its slots.
  ///
  /// - Returns: the slots; none for a store in which nothing was saved.
  /// - Throws: `StorageError` when the source or the store can't be read.
  package func openedSlots() throws(StorageError) -> [KeySlot] {
    try opened().map { KeySlot($0) }
  }

  /// The marks of the slots in ``openedSlots()``, by the slot's number, as they were when these were
  /// opened; see ``slotMarks()``.
  ///
  /// - Throws: as ``openedSlots()``.
  package func openedMarks() throws(StorageError) -> [UInt32: String] {
    Self.marks(of: try opened())
  }

  private func opened() throws(StorageError) -> [Slot] {
    try requireSlots()
    guard let bytes = try store.place.header().header else { return [] }
    let header = try StoreHeader(reading: bytes)
    let source = store.keys.source
    return try store.keys.asking(source) { () throws(StorageError) in
      var found: [Slot] = []
      for candidate in source.candidates {
        guard let material = try candidate.read() else { continue }
        for slot in header.slots(of: candidate) {
          if try slot.root(with: material, store: header.store) != nil {
            found.append(slot)
          }
        }
      }
      return found
    }
  }

  /// Adds a slot, so that `source` opens the store too.
  ///
  /// - Parameter source: asked for its key now. A source that can make keys makes one if it has
  ///   none.
  /// - Returns: the new slot.
  /// - Throws: `StorageError`: `invalid` when the source already opens the store, or gives a
  ///   passphrase of fewer than 8 bytes or with a weak ``PassphraseDerivation``, `full` when the
  ///   store has 32 slots, `keyUnavailable` when the source gives no key.
  @discardableResult
  public func add(_ source: KeySource) throws(StorageError) -> KeySlot {
    let material = try store.keys.material(of: source)
    // The same key from another source needs a slot of its own: a store asks only sources with a
    // slot.
    if let slot = try slot(openedBy: material.1, of: material.0) {
      throw Self.isOpener(slot, "that key", "").at(store.place.location)
    }
    let new = try SlotMaterial(of: material)
    var slot: Slot?
    try store.keys.update { (draft, _) throws(StorageError) in
      slot = try Self.append(new, to: &draft)
    }
    return KeySlot(slot!)
  }

  /// Makes `source` the only source that opens the store, such as a new passphrase or a new key
  /// file.
  ///
  /// Removes all other slots except those of recovery keys. The data is not touched. This storage
  /// uses the new source from now on; the application must list the new source from its next start.
  ///
  /// - Throws: `StorageError`; the store then still opens with the old source. After
  ///   `outcomeUnknown`, for instance when a keyring's service went away, the store opens with one
  ///   of the two: keep both until a later call succeeds.
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
  /// - Throws: `StorageError`: `invalid` for the last slot and for a slot that does not exist.
  public func remove(_ id: UInt32) throws(StorageError) {
    try store.keys.update { (draft, _) throws(StorageError) in
      guard draft.header.slots.contains(where: { $0.id == id }) else {
        throw StorageError(.invalid, "the store has no key slot \(id)")
      }
      guard draft.header.slots.count > 1 else {
        throw StorageError(.invalid, "the last key slot can't be removed; add another slot first")
      }
      draft.header.slots.removeAll { $0.id == id }
    }
  }

  /// Makes a recovery key and a slot that it opens.
  ///
  /// - Returns: the key; write it down and keep it elsewhere, since it can't be exported a second
  ///   time.
  /// - Throws: `StorageError`: `full` when the store has 32 slots.
  public func exportRecoveryKey() throws(StorageError) -> RecoveryKey {
    let key = try RecoveryKey.random()
    try add(.recovery(key))
    return key
  }

  /// The slot that `material` opens, or nil: among the slots of `candidate`, or among all slots.
  ///
  /// For a passphrase, costs one key derivation for each passphrase slot.
  func slot(
    openedBy material: KeyMaterial, of candidate: KeySource.Candidate? = nil
  ) throws(StorageError) -> Slot? {
    guard let bytes = try store.place.header().header else { return nil }
    let header = try StoreHeader(reading: bytes)
    // The text of a key gives access to the key and the other way round, so both forms are tried.
    let readings = try candidate == nil ? material.readings : [material]
    for slot in candidate.map({ header.slots(of: $0) }) ?? header.slots {
      for reading in readings {
        do throws(StorageError) {
          if try slot.root(with: reading, store: header.store) != nil { return slot }
        } catch {
          // A slot whose derivation this machine does not support can't be compared.
          guard error.code == .unsupported else { throw error }
        }
      }
    }
    return nil
  }

  /// The source that opens the store, and its key or passphrase; makes no key.
  func ownMaterial() throws(StorageError) -> (KeySource.Candidate, KeyMaterial) {
    guard let opening = try opening() else { throw StoreKeys.isNew }
    return (opening.opener, opening.material)
  }

  /// How the storage's own source opens the store, or nil for a store in which nothing was saved.
  private func opening() throws(StorageError) -> Opening? {
    try requireSlots()
    guard let bytes = try store.place.header().header else { return nil }
    do throws(StorageError) {
      return try store.keys.unwrapRoot(
        of: try StoreHeader(reading: bytes), by: store.keys.source)
    } catch {
      throw error.at(store.place.location)
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
      .invalid, "\(what) already opens the store, by slot \(slot.id), \(slot.title)\(advice)")
  }

  /// Throws if the store has no header, and so no slots.
  func requireSlots() throws(StorageError) {
    guard store.keys.hasHeader else {
      throw StorageError(
        .unsupported,
        "this store is opened directly with the application's key and has no key slots")
    }
  }
}

extension KeyAdministration: RedactedDescription {}

extension Storage {
  /// Changes which sources open the store, and which keys seal its records.
  public var keyAdministration: KeyAdministration { KeyAdministration(store: store) }
}
