public import CryptoCore

/// All records of a store.
public struct AllRecords: Sendable {
  public let records: [NameHash: [UInt8]]
  public let headerVersion: UInt64

  public init(records: [NameHash: [UInt8]], headerVersion: UInt64) {
    self.records = records
    self.headerVersion = headerVersion
  }
}
