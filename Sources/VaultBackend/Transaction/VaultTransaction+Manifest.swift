internal import CryptoCore
internal import StorageCore

// Compares the records with the manifest before it is made anew.

extension VaultTransaction {
  /// The manifest before the change of the header, or nil when it was altered; `known` is the
  /// manifest that the transaction has.
  static func told(
    _ known: Manifest?, _ keys: ManifestKeys?, _ connection: Connection
  ) throws(StorageError) -> Manifest? {
    // Another process may have changed the header since this one opened its keys.
    guard known == nil, let keys else { return known }
    return try Manifest.stored(in: connection, keys)
  }

  /// The result of comparing the rows with the manifest.
  struct Comparison {
    /// Whether the manifest counts only the requested records, although others exist.
    let isWithoutOthers: Bool
    /// Whether the manifest agrees about the removals as well.
    ///
    /// If not, there are tombstones that nobody with the keys made, and a genuine one may be
    /// missing among them.
    let hasRemovals: Bool
  }

  /// Compares the manifest with all rows, and with the records of `names`.
  ///
  /// - Returns: nil when the manifest agrees with neither, or when removals are missing.
  static func comparison(
    of told: Manifest, with connection: Connection, _ keys: ManifestKeys, _ names: [NameHash]
  ) throws(StorageError) -> Comparison? {
    for others in [true, false] {
      let actual = try Manifest.computed(
        connection, keys, of: others ? nil : names, upTo: told.generation)
      guard told.hasRecords(of: actual), !told.lacksRemovals(in: actual) else { continue }
      return Comparison(isWithoutOthers: !others, hasRemovals: told.hasRemovals(of: actual))
    }
    return nil
  }

  /// The same.
  ///
  /// - Throws: `damaged` when the manifest disagrees.
  static func requireComparison(
    of told: Manifest, with connection: Connection, _ keys: ManifestKeys, _ names: [NameHash]
  ) throws(StorageError) -> Comparison {
    if let found = try comparison(of: told, with: connection, keys, names) { return found }
    throw StorageError(
      .damaged,
      "records were removed or put back by somebody without the keys; verify and repair the vault "
        + "first", path: connection.path)
  }

  /// The most hidden records that are counted: the number comes from the manifest, and somebody who
  /// once had its keys may have written any number.
  private static let hiddenLimit: Int64 = 1 << 20

  /// The number of records that may need any of the keys: rows that are no records, and records
  /// that the manifest counts but the table lacks, which a repair may find.
  static func hiddenCount(
    _ told: Manifest?, besides count: UInt64, _ connection: Connection
  ) throws(StorageError) -> Int64 {
    let strays = Int64(try VaultRows.strays(connection).count)
    // Below zero if somebody with the keys has removed more records than were written: those were
    // planted.
    let written = Int64(bitPattern: told?.count ?? 0)
    let missing = max(0, max(0, written) - Int64(clamping: count))
    return min(strays, hiddenLimit) + min(missing, hiddenLimit)
  }
}
