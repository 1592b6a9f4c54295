internal import CryptoCore

// What is done with all records in the step that changes the header, while the keys' gate is held:
// with no more than the current keys.

extension SealedStore {
  /// Hashes all names under a fresh key and seals all records anew.
  ///
  /// - Parameters:
  ///   - records: what the store holds.
  ///   - keyset: gets a fresh name key; its primary key, which is new, seals.
  /// - Returns: how many records there were.
  /// - Throws: `damaged` when one does not open that may be of somebody with the keys: under the new
  ///   hash of its name there would be nothing.
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
    if let refusal, try !records.isWholeWithoutOthers() {
      throw StorageError(
        refusal.code,
        "a record does not open, so its name is not known and can't be hashed anew: "
          + "\(refusal.message). Repair the store first and drop what does not open, or rotate "
          + "without names")
    }
    return count
  }

  /// Seals all records anew that open, under their names, with the primary key of the keyset, which is
  /// new.
  ///
  /// - Returns: how many.
  func resealAll(
    _ records: HeldRecords, _ keyset: inout Keyset
  ) throws(StorageError) -> Int {
    try rewrite(records, &keyset) { (_, hash, _) throws(StorageError) in hash }.count
  }

  /// What the records are now.
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

  /// Seals all records anew that open, each under the hash that `hash` says.
  ///
  /// - Returns: how many; and why one did not open that was left as it is, if there is one.
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
    .unsupported, "this store's key is the application's own; it can't be replaced")
}
