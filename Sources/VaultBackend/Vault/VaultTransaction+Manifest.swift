internal import CryptoCore
internal import StorageCore

// What the manifest says of the records, before it is made anew.

extension VaultTransaction {
  /// The manifest as it was before the header is changed, or nil when it was altered; `known` is what
  /// the transaction knows of it.
  static func told(
    _ known: Manifest?, _ keys: ManifestKeys?, _ connection: Connection
  ) throws(StorageError) -> Manifest? {
    // Another process may have changed the header since this one opened its keys.
    guard known == nil, let keys else { return known }
    return try manifest(try VaultRows.manifest(connection), keys)
  }

  /// How the rows compare with the manifest that tells of their records.
  struct Comparison {
    /// Whether it tells of the records that were asked for and of no others, though others are there.
    let isWithoutOthers: Bool
    /// Whether it tells of the removals as well.
    ///
    /// If not, there are tombstones that nobody with the keys
    /// made, among which one of theirs may be missing.
    let hasRemovals: Bool
  }

  /// Compares the manifest with all rows, and with the records of `names`.
  ///
  /// - Returns: nil when it tells of other records than either, or when removals are missing.
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
  /// - Throws: `damaged` when it tells of something else.
  static func requireComparison(
    of told: Manifest, with connection: Connection, _ keys: ManifestKeys, _ names: [NameHash]
  ) throws(StorageError) -> Comparison {
    if let found = try comparison(of: told, with: connection, keys, names) { return found }
    throw StorageError(
      .damaged,
      "records were removed or put back by somebody without the keys; verify and repair the vault "
        + "first", path: connection.path)
  }

  /// So many hidden records are told of one by one: the number is the manifest's, and whoever had its
  /// keys once may have written any.
  private static let hiddenLimit: Int64 = 1 << 20

  /// How many records keep all keys, since nothing is known of theirs: rows that are no records, and what
  /// the manifest tells of and the table leaves out, which a repair may find.
  static func hiddenCount(
    _ told: Manifest?, besides count: UInt64, _ connection: Connection
  ) throws(StorageError) -> Int64 {
    let strays = Int64(try VaultRows.strays(connection).count)
    // Below zero where somebody with the keys has removed more than they had written: that was planted.
    let written = Int64(bitPattern: told?.count ?? 0)
    let missing = max(0, max(0, written) - Int64(clamping: count))
    return min(strays, hiddenLimit) + min(missing, hiddenLimit)
  }
}
