package import CryptoCore

extension SealedStore {
  /// What opens the store.
  package var keySource: KeySource { keys.source }

  /// Further data that must match when a record is opened; empty for none.
  package var authenticationTag: [UInt8] { tag }

  /// Opens the keys of the store as it is now.
  ///
  /// - Returns: whether there are any; a new store has none.
  /// - Throws: `StorageError`: why the store can't be opened.
  @discardableResult
  package func openKeys() throws(StorageError) -> Bool { try keys.refresh() != nil }

  /// What tells the store from others, and its present keys from those before.
  ///
  /// - Returns: nil when the store is new and has no keys.
  /// - Throws: `StorageError`: why the store can't be opened.
  package func storeIdentity() throws(StorageError) -> (store: StoreID, primaryKeyID: UInt32)? {
    try keys.forReading().map { ($0.store, $0.primary.id) }
  }

  /// Whether the record of a name is sealed under the data key that seals now; nil when there is none.
  ///
  /// - Throws: `StorageError`: why the store can't be read.
  package func isUnderPrimaryKey(_ name: RecordName) throws(StorageError) -> Bool? {
    guard let sealed = try fetch(name) else { return nil }
    return Self.header(of: sealed.record)?.keyID == sealed.keys.primary.id
  }

  /// What opens records by the keys of the store as it is now, and by no others later.
  ///
  /// - Returns: nil when the store is new and has no keys.
  /// - Throws: `StorageError`: why the store can't be opened.
  package func inspector() throws(StorageError) -> RecordInspector? {
    try keys.refresh().map { RecordInspector(self, $0) }
  }
}

/// Opens records by the keys of one header, whatever becomes of the store's.
package struct RecordInspector {
  /// The version of a header that these are the keys of.
  package let headerVersion: UInt64
  private let store: SealedStore
  private let keys: OpenKeys

  fileprivate init(_ store: SealedStore, _ keys: OpenKeys) {
    self.store = store
    self.keys = keys
    headerVersion = keys.headerVersion
  }

  /// The same with the keys of another header, without asking the key source.
  ///
  /// - Returns: nil when the header is of another root key, or of another store.
  /// - Throws: `StorageError`: `damaged` for what is no header.
  package func following(_ bytes: [UInt8]) throws(StorageError) -> RecordInspector? {
    let header = try StoreHeader(reading: bytes)
    guard let root = keys.root, try root.isRoot(of: header) else { return nil }
    let keyset = try root.openKeyset(of: header)
    return RecordInspector(
      store, try OpenKeys(keyset, root: root, store: header.store, previous: keys))
  }

  /// The keys of the manifest; nil for a store without a header.
  package var manifestKeys: ManifestKeys? { keys.manifest }

  /// The key name of a record that was found under `hash`, or nil when it does not open there.
  ///
  /// - Throws: `StorageError` for what says nothing about the record, as a lack of memory.
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

  /// Whether a record is sealed under the data key that seals now.
  package func isUnderPrimaryKey(_ record: [UInt8]) -> Bool {
    SealedStore.header(of: record)?.keyID == keys.primary.id
  }

  /// Whether a record is sealed under a data key that was retired, so that it opens only when it is taken
  /// back on purpose.
  package func isSetAside(_ record: [UInt8]) -> Bool {
    SealedStore.header(of: record).map { keys.isRetired($0.keyID) } ?? false
  }

  /// A header in which the data keys are retired that a rotation was ending, and what opens records by it.
  ///
  /// - Returns: nil when no data key is ending.
  /// - Throws: `StorageError`: `damaged` when the header is not that of these keys.
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
  /// - Throws: `StorageError`: `invalid` for a name that no key can have.
  package func hash(of key: String) throws(StorageError) -> NameHash {
    try store.name(key).context(in: keys).name
  }
}
