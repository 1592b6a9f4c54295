package import CryptoCore

/// A delegate that can return all of its records as they were at one moment.
package protocol SnapshotDelegate: KeysetDelegate {
  /// Returns all records, and the version of the header that was current with them.
  ///
  /// - Throws: `StorageError` when the records can't be read.
  func allRecords() throws(StorageError) -> AllRecords
}

/// All records of a store.
package struct AllRecords: Sendable {
  package let records: [NameHash: [UInt8]]
  package let headerVersion: UInt64

  package init(records: [NameHash: [UInt8]], headerVersion: UInt64) {
    self.records = records
    self.headerVersion = headerVersion
  }
}
