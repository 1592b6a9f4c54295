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

  /// The key name of a record that was found under `hash`, which proves that the record opens.
  ///
  /// - Throws: `StorageError`: `damaged` when it does not, or why the store can't be opened.
  package func clearName(of record: [UInt8], under hash: NameHash) throws(StorageError) -> String {
    guard let open = try keys.forReading() else {
      throw StorageError(.keyUnavailable, "the store holds no header, so nothing in it opens")
    }
    let context = RecordContext(store: open.store, name: hash, authenticationTag: tag)
    var name = ""
    try self.open(Sealed(record: record, keys: open, context: context), nil) {
      (payload) throws(StorageError) in name = try Payload.name(payload)
    }
    return name
  }

  /// The hash of a key name under the present keys, or nil when the store is new.
  package func hash(of key: String) throws(StorageError) -> NameHash? {
    guard let open = try keys.forReading() else { return nil }
    return try name(key).context(in: open).name
  }
}
