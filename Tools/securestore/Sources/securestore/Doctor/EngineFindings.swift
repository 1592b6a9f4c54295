internal import VaultBackend

/// The finding about the SQLite version.
enum EngineFindings {
  static func all(_ version: SQLiteVersion = .current) -> [Finding] {
    guard version.hasLogResetFault else { return [Finding("SQLite", .good, "version \(version)")] }
    return [
      Finding(
        "SQLite", .good,
        "version \(version) can lose commits when a checkpoint meets a new log "
          + "(sqlite.org/wal.html#walresetbug), unless the distribution has fixed it. This program, and "
          + "every program that uses the library, prevents that: it blocks writers during a checkpoint. "
          + "Do not open a vault with older programs or with sqlite3")
    ]
  }
}
