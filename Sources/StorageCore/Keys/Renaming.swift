internal import CryptoCore

extension SealedStore {
  /// Hashes all names under a fresh key and seals all records anew, in the step that changes the
  /// header.
  ///
  /// Called while the keys' gate is held, so it uses no more than the current keys.
  ///
  /// - Parameters:
  ///   - records: what the store holds.
  ///   - keyset: gets a fresh name key; its primary key, which is new, seals.
  /// - Returns: how many records there were.
  /// - Throws: `damaged` when one does not open.
  func rename(
    _ records: HeldRecords, _ keyset: inout Keyset
  ) throws(StorageError) -> Int {
    guard let old = keys.current, let root = old.root else { throw Self.noNames }
    keyset.nameKey = try Keyset.freshKey()
    let new = try OpenKeys(keyset, root: root, store: old.store, previous: nil)
    var count = 0
    try records.rewrite { (name, record) throws(StorageError) in
      count += 1
      return try rename(record, name, from: old, to: new)
    }
    keyset.entries[keyset.primaryIndex].reservedSeals += UInt64(count)
    return count
  }

  private func rename(
    _ record: [UInt8], _ name: NameHash, from old: OpenKeys, to new: OpenKeys
  ) throws(StorageError) -> (NameHash, [UInt8]) {
    let context = RecordContext(store: old.store, name: name, authenticationTag: tag)
    var payload: [UInt8] = []
    defer { Wipe.bytes(&payload) }
    do throws(StorageError) {
      try open(Sealed(record: record, keys: old, context: context), nil) {
        (bytes) throws(StorageError) in payload = bytes.copied()
      }
    } catch {
      throw StorageError(
        error.code,
        "a record does not open, so its name is not known and can't be hashed anew: "
          + "\(error.message). Repair the store first and drop what does not open, or rotate "
          + "without names")
    }
    let text = try unsafe Payload.name(payload.span.bytes)
    return try cryptography(key: text) { () throws(CryptoError) in
      let hash = try new.names.hash(name: text)
      let context = RecordContext(store: new.store, name: hash, authenticationTag: tag)
      return (hash, try unsafe new.primary.seal(payload.span.bytes, for: context))
    }
  }

  private static let noNames = StorageError(
    .unsupported, "this store's key is the application's own; its names can't be hashed anew")
}
