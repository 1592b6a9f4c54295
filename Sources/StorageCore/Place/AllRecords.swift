public import CryptoCore

/// All records of a store.
public struct AllRecords: Sendable {
  /// The records by the hashes of their names.
  public let records: [NameHash: [UInt8]]
  /// The version of the header that was current with them.
  public let headerVersion: UInt64

  /// Makes the list of all records of one moment.
  public init(records: [NameHash: [UInt8]], headerVersion: UInt64) {
    self.records = records
    self.headerVersion = headerVersion
  }
}
