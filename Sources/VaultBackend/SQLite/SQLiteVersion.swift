internal import CSQLite

/// The version of the SQLite library that this process uses for vaults.
package struct SQLiteVersion: Hashable, Sendable, CustomStringConvertible {
  /// SQLite's own number for it: 3,040,001 for 3.40.1.
  let number: Int32

  /// The version of the library in use.
  package static var current: SQLiteVersion { SQLiteVersion(number: sqlite3_libversion_number()) }

  /// Whether a version of this number can lose commits when a checkpoint meets a new log:
  /// <https://sqlite.org/wal.html#walresetbug>, 3.7.0 to 3.51.2 but 3.44.6 and 3.50.7.
  ///
  /// Programs that use this package are not affected: while one copies a vault's log, none can
  /// write. Programs that open a vault with SQLite directly don't follow this rule. A distribution
  /// may have fixed its SQLite without changing the number.
  package var hasLogResetFault: Bool {
    guard (3_007_000...3_051_002).contains(number) else { return false }
    // The same fix, on two older branches.
    return !(3_044_006..<3_045_000).contains(number) && !(3_050_007..<3_051_000).contains(number)
  }

  /// The version as SQLite writes it, as in `3.40.1`.
  package var description: String {
    "\(number / 1_000_000).\(number / 1000 % 1000).\(number % 1000)"
  }
}
