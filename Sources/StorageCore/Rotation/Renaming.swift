internal import CryptoCore

// Work on all records in the step that changes the header. The lock of the keys is held meanwhile,
// so this code uses only the current keys.

extension SealedStore {
  /// Hashes all names with a fresh key and seals all records again.
  ///
  /// - Parameters:
  ///   - records: the records of the store.
  ///   - keyset: gets a fresh name key. Its primary key is new and seals the records.
  /// - Returns: how many records were sealed.
  /// - Throws: `damaged` when a record does not open: nobody could find it under the new hash of its
  ///   name.
  func rename(
    _ records: HeldRecords, _ keyset: inout Keyset
  ) throws(StorageError) -> Int {
    keyset.nameKey = try Keyset.freshKey()
    let (count, refusal) = try rewrite(records, &keyset) {
      (payload, _, new) throws(StorageError) in
      let text = try unsafe Payload.name(payload.span.bytes)
      return try cryptography(key: text) { () throws(CryptoError) in try new.names.hash(name: text)
      }
    }
    if let refusal {
      throw StorageError(
        refusal.code,
        "a record does not open, so its name is not known and can't be hashed with the new key: "
          + "\(refusal.message). Repair the store first and drop the records that do not open, or "
          + "rotate without names")
    }
    return count
  }

  /// Seals all records that open again, with the new primary key of the keyset, and keeps their
  /// names.
  ///
  /// - Returns: how many records were sealed.
  func resealAll(
    _ records: HeldRecords, _ keyset: inout Keyset
  ) throws(StorageError) -> Int {
    try rewrite(records, &keyset) { (_, hash, _) throws(StorageError) in hash }.count
  }

  /// The hashes of all records as they are now; nil for a store without a manifest key.
  func snapshot(of records: HeldRecords) throws(StorageError) -> RecordSnapshot? {
    guard let keys = keys.current?.manifest else { return nil }
    var snapshot: RecordSnapshot = [:]
    var failure: StorageError?
    try records.visit { name, record in
      do throws(StorageError) {
        snapshot[name] = try RecordShare(of: record, name, keys)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return snapshot
  }

  /// Seals all records that open again, each under the name that `hash` gives.
  ///
  /// - Returns: how many records were sealed, and why a record did not open and was left unchanged;
  ///   nil if all records opened.
  private func rewrite(
    _ records: HeldRecords, _ keyset: inout Keyset,
    _ hash: ([UInt8], NameHash, OpenKeys) throws(StorageError) -> NameHash
  ) throws(StorageError) -> (count: Int, refusal: StorageError?) {
    guard let old = keys.current, let root = old.root else { throw Self.noHeader }
    let new = try OpenKeys(keyset, root: root, store: old.store, previous: nil)
    var count = 0
    var refusal: StorageError?
    try records.rewrite { (name, record) throws(StorageError) in
      let context = RecordContext(store: old.store, name: name, authenticationTag: tag)
      var payload: [UInt8] = []
      defer { Wipe.bytes(&payload) }
      do throws(StorageError) {
        try open(Sealed(record: record, keys: old, context: context), nil) {
          (bytes) throws(StorageError) in payload = bytes.copied()
        }
      } catch {
        guard [.damaged, .unsupported].contains(error.code) else { throw error }
        refusal = error
        return nil
      }
      count += 1
      let newName = try hash(payload, name, new)
      let newContext = RecordContext(store: new.store, name: newName, authenticationTag: tag)
      return try cryptography { () throws(CryptoError) in
        (newName, try unsafe new.primary.seal(payload.span.bytes, for: newContext))
      }
    }
    keyset.entries[keyset.primaryIndex].reservedSeals += UInt64(count)
    return (count, refusal)
  }

  private static let noHeader = StorageError(
    .unsupported, "the application opens this store with a key that can't be replaced")
}
