internal import CryptoCore

/// The records of a store at one moment, with the keys that open them.
///
/// Values stay sealed until they are loaded.
package struct StoreSnapshot: Sendable {
  private let store: SealedStore
  /// Nil for a new store, which has no records.
  private let keys: OpenKeys?
  private let records: [NameHash: [UInt8]]

  fileprivate init(_ store: SealedStore, _ keys: OpenKeys?, _ records: [NameHash: [UInt8]]) {
    self.store = store
    self.keys = keys
    self.records = records
  }

  /// The value that a key had; nil when there was none.
  ///
  /// - Throws: `StorageError`: `typeMismatch`, `damaged`, or `invalid` for a name that is not a
  ///   valid key.
  package func load<Value>(
    _ type: Value.Type = Value.self, forKey key: StoreKey
  ) throws(StorageError) -> Value? {
    do throws(StorageError) {
      try Payload.check(name: key)
      guard let keys else { return nil }
      let context = try store.name(key).context(in: keys)
      guard let record = records[context.name] else { return nil }
      var value: Value?
      try store.open(SealedStore.Sealed(record: record, keys: keys, context: context), key) {
        (payload) throws(StorageError) in
        value = try ValueCoder<Value>.automatic().decode(payload)
      }
      return value
    } catch {
      throw error.about(key)
    }
  }
}

extension SealedStore {
  /// Reads all records.
  ///
  /// In a vault, in a suite and in memory, all records are from one moment. Elsewhere they are read
  /// one after the other, and others may write meanwhile.
  ///
  /// - Throws: `StorageError`: `unsupported` when the place can't list its records, or the reason
  ///   why the store can't be read.
  package func snapshot() throws(StorageError) -> StoreSnapshot {
    for _ in Attempts() {
      guard let open = try keys.forReading() else { return StoreSnapshot(self, nil, [:]) }
      let found = try allRecords(open)
      // Under another header, names may have other hashes.
      if found.headerVersion == open.headerVersion {
        return StoreSnapshot(self, open, found.records)
      }
      try keys.refresh()
    }
    throw StorageError(.busy, "another program kept changing the store's keys; try again")
  }

  private func allRecords(_ open: OpenKeys) throws(StorageError) -> AllRecords {
    if let all = try place.allRecords() { return all }
    var records: [NameHash: [UInt8]] = [:]
    for name in try place.names() {
      let (record, version) = try place.lookup(name)
      guard version == open.headerVersion else {
        return AllRecords(records: [:], headerVersion: version)
      }
      records[name] = record
    }
    return AllRecords(records: records, headerVersion: open.headerVersion)
  }
}
