package import CryptoCore

extension SealedStore {
  /// The source of the key that opens the store.
  package var keySource: KeySource { keys.source }

  /// Further data that must match when a record is opened; empty when there is none.
  package var authenticationTag: [UInt8] { tag }

  /// Opens the store's current keys.
  ///
  /// - Returns: whether the store has keys; a new store has none.
  /// - Throws: `StorageError`: the reason why the store can't be opened.
  @discardableResult
  package func openKeys() throws(StorageError) -> Bool { try keys.refresh() != nil }

  /// The id of the store and the id of its current primary key.
  ///
  /// - Returns: nil when the store is new and has no keys.
  /// - Throws: `StorageError`: the reason why the store can't be opened.
  package func storeIdentity() throws(StorageError) -> (store: StoreID, primaryKeyID: UInt32)? {
    try keys.forReading().map { ($0.store, $0.primary.id) }
  }

  /// The mark of a message, which only holders of the store's current root key can compute: 64
  /// bytes.
  ///
  /// A rotation replaces the root key; a new data key alone does not. So somebody who can open the
  /// store now has made this mark after the last rotation.
  ///
  /// - Returns: nil when the store is new and has no keys, or has no root key.
  /// - Throws: `StorageError`: the reason why the store can't be opened.
  package func mark(_ message: RawSpan) throws(StorageError) -> NameHash? {
    try keys.forReading()?.mark(message)
  }

  /// Remembers the store's current root key, to tell later whether it was replaced.
  ///
  /// - Returns: nil when the store is new and has no keys.
  /// - Throws: `StorageError`: the reason why the store can't be opened.
  package func rootWatch() throws(StorageError) -> RootWatch? {
    try keys.following().map { RootWatch(self, $0) }
  }

  /// Whether a name's record is sealed under the primary data key; nil when there is no record.
  ///
  /// - Throws: `StorageError`: the reason why the store can't be read.
  package func isUnderPrimaryKey(_ name: RecordName) throws(StorageError) -> Bool? {
    guard let sealed = try fetch(name) else { return nil }
    return Self.header(of: sealed.record)?.keyID == sealed.keys.primary.id
  }

  /// An inspector that opens records with the store's current keys, and never with later ones.
  ///
  /// - Returns: nil when the store is new and has no keys.
  /// - Throws: `StorageError`: the reason why the store can't be opened.
  package func inspector() throws(StorageError) -> RecordInspector? {
    try keys.refresh().map { RecordInspector(self, $0) }
  }
}

/// Opens records with the keys of one header, even after the store's keys change.
package struct RecordInspector {
  /// The version of the header that holds these keys.
  package let headerVersion: UInt64
  private let store: SealedStore
  private let keys: OpenKeys

  fileprivate init(_ store: SealedStore, _ keys: OpenKeys) {
    self.store = store
    self.keys = keys
    headerVersion = keys.headerVersion
  }

  /// An inspector with the keys of another header of this store; does not ask the key source.
  ///
  /// - Returns: nil when the header has another root key or belongs to another store.
  /// - Throws: `StorageError`: `damaged` when `bytes` is not a header.
  package func following(_ bytes: [UInt8]) throws(StorageError) -> RecordInspector? {
    let header = try StoreHeader(reading: bytes)
    guard let root = keys.root, try root.isRoot(of: header) else { return nil }
    let keyset = try root.openKeyset(of: header)
    return RecordInspector(
      store, try OpenKeys(keyset, root: root, store: header.store, previous: keys))
  }

  /// The keys of the manifest; nil for a store without a header.
  package var manifestKeys: ManifestKeys? { keys.manifest }

  /// The key name in a record that was found under `hash`; nil when the record does not open there.
  ///
  /// - Throws: `StorageError` for failures that say nothing about the record, such as lack of
  ///   memory.
  package func clearName(of record: [UInt8], under hash: NameHash) throws(StorageError) -> String? {
    let context = RecordContext(store: keys.store, name: hash, authenticationTag: store.tag)
    var name: String?
    do throws(StorageError) {
      try store.open(SealedStore.Sealed(record: record, keys: keys, context: context), nil) {
        (payload) throws(StorageError) in name = try Payload.name(payload)
      }
    } catch {
      guard [.damaged, .unsupported].contains(error.code) else { throw error }
      return nil
    }
    return name
  }

  /// Whether a record is sealed under the primary data key, which seals new records.
  package func isUnderPrimaryKey(_ record: [UInt8]) -> Bool {
    SealedStore.header(of: record)?.keyID == keys.primary.id
  }

  /// Whether a record is sealed under a retired data key.
  ///
  /// Such a record opens only when it is readmitted on purpose.
  package func isSetAside(_ record: [UInt8]) -> Bool {
    SealedStore.header(of: record).map { keys.isRetired($0.keyID) } ?? false
  }

  /// Creates a header that retires the data keys that a rotation was ending, with an inspector for
  /// it.
  ///
  /// - Returns: nil when no data key is ending.
  /// - Throws: `StorageError`: `damaged` when the header does not belong to these keys.
  package func retiringEndingKeys(
    of bytes: [UInt8]
  ) throws(StorageError) -> (header: [UInt8], inspector: RecordInspector)? {
    guard !keys.ending.isEmpty, let root = keys.root else { return nil }
    var draft = try HeaderDraft(StoreHeader(reading: bytes), root)
    draft.keyset.endOthers(as: .retired, from: .ending)
    let new = try OpenKeys(draft.keyset, root: root, store: keys.store, previous: keys)
    return (try draft.finish(), RecordInspector(store, new))
  }

  /// The hash of a key name.
  ///
  /// - Throws: `StorageError`: `invalid` for a name that is not a valid key.
  package func hash(of key: String) throws(StorageError) -> NameHash {
    try store.name(key).context(in: keys).name
  }
}

/// The root key that a store had at one time.
package struct RootWatch: Sendable {
  private let store: SealedStore
  private let keys: OpenKeys

  fileprivate init(_ store: SealedStore, _ keys: OpenKeys) {
    self.store = store
    self.keys = keys
  }

  /// The mark of a message under that root key, as ``SealedStore/mark(_:)`` makes it.
  ///
  /// - Throws: `StorageError`: the reason why the mark can't be computed.
  package func mark(_ message: RawSpan) throws(StorageError) -> NameHash? {
    try keys.mark(message)
  }

  /// Whether the store still has that root key.
  ///
  /// Any process may have replaced it.
  ///
  /// Costs a look at the header in memory.
  ///
  /// - Throws: `StorageError`: the reason why the store can't be opened.
  package func isCurrent() throws(StorageError) -> Bool {
    guard let now = try store.keys.following() else { return false }
    return now === keys || now.root?.key == keys.root?.key
  }
}
