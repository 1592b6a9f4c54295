internal import VaultBackend

/// What is known of the SQLite that vaults are kept with.
enum EngineFindings {
  static func all(_ version: SQLiteVersion = .current) -> [Finding] {
    guard version.hasLogResetFault else { return [Finding("SQLite", .good, "version \(version)")] }
    return [
      Finding(
        "SQLite", .good,
        "version \(version), of those that can lose commits when a checkpoint meets a new log "
          + "(sqlite.org/wal.html#walresetbug), unless the distribution has mended it. This program, and "
          + "every one that uses the library, keeps writers away during a checkpoint, so that it can't "
          + "happen; use a vault with nothing older, and not with sqlite3")
    ]
  }
}
