internal import CryptoCore
internal import StorageCore

// What the manifest says about the records before it is made anew.

extension VaultTransaction {
  /// The manifest before the change of the header, or nil when it was altered; `known` is the
  /// manifest that the transaction has.
  static func formerManifest(
    _ known: Manifest?, _ keys: ManifestKeys?, _ connection: Connection
  ) throws(StorageError) -> Manifest? {
    // Another process may have changed the header since this one opened its keys.
    guard known == nil, let keys else { return known }
    return try Manifest.stored(in: connection, keys)
  }

  /// The most hidden records that are counted: the number comes from the manifest, and somebody who
  /// once had its keys may have written any number.
  private static let hiddenLimit: Int64 = 1 << 20

  /// The number of records that may need any of the keys: rows that are no records, and records
  /// that the manifest counts but the table lacks, which a repair may find.
  static func hiddenCount(
    _ former: Manifest?, besides count: UInt64, _ connection: Connection
  ) throws(StorageError) -> Int64 {
    let strays = Int64(try VaultRows.strays(connection).count)
    // Below zero if somebody with the keys has removed more records than were written: those were
    // planted.
    let written = Int64(bitPattern: former?.count ?? 0)
    let missing = max(0, max(0, written) - Int64(clamping: count))
    return min(strays, hiddenLimit) + min(missing, hiddenLimit)
  }
}
