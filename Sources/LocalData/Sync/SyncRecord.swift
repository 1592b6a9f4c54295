internal import StorageCore

/// The state of a key at the last agreement between this machine and a shared store.
struct SyncRecord: Codable, Equatable, Sendable {
  /// The version of the shared entry.
  var version: UInt64
  /// The digest of the shared entry's bytes.
  var shared: [UInt8]
  /// The digest of this machine's serialized value; nil if there was none.
  var local: [UInt8]?
}

extension Ledger {
  private static func name(_ key: some StorageKey, _ transport: String) -> String {
    "sync:\(transport)\u{1F}\(key.domain)\u{1F}\(key.name)"
  }

  func syncRecord(
    _ key: some StorageKey, _ transport: String
  ) throws(StorageError) -> SyncRecord? {
    try storage.load(decodable: SyncRecord.self, forKey: Self.name(key, transport))
  }

  func record(
    _ record: SyncRecord, _ key: some StorageKey, _ transport: String
  ) throws(StorageError) {
    guard try syncRecord(key, transport) != record else { return }
    try storage.save(encodable: record, forKey: Self.name(key, transport))
  }
}
