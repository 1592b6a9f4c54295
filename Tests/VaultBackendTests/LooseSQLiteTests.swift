import CSQLite
import CryptoCore
import Testing

@testable import VaultBackend

/// A SQLite that opens its connections with everything allowed, as one may be built, and as any
/// library of the process may have it done: https://sqlite.org/c3ref/auto_extension.html.
@Suite(.serialized) struct LooseSQLiteTests {
  private let vault = TemporaryVault()

  private static let modes = [Connection.Mode.readWrite, .readOnly, .immutable]

  /// The connection to `vault`, loosened before the library had it, and its handle.
  private func loosened(_ mode: Connection.Mode) throws -> (Connection, Loosened) {
    try vault.storage().save("value", forKey: "key")
    try Loosened.start(at: vault.path)
    defer { Loosened.stop() }
    let connection = try Connection(vault.path, mode, until: .now)
    return (connection, try #require(Loosened.latest))
  }

  @Test(arguments: modes) func aConnectionIsLooseToStartWith(_ mode: Connection.Mode) throws {
    let (connection, loosened) = try loosened(mode)
    #expect(loosened.failures == [])
    withExtendedLifetime(connection) {}
  }

  @Test(
    arguments: [
      (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
      (SQLITE_DBCONFIG_ENABLE_TRIGGER, 0), (SQLITE_DBCONFIG_ENABLE_VIEW, 0),
      (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0), (SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0),
      (SQLITE_DBCONFIG_DQS_DML, 0), (SQLITE_DBCONFIG_DQS_DDL, 0),
    ] as [(Int32, Int32)])
  func whatWasAllowedIsForbidden(_ option: Int32, _ expected: Int32) throws {
    for mode in Self.modes {
      let (connection, loosened) = try loosened(mode)
      #expect(loosened.option(option) == expected, "\(mode)")
      withExtendedLifetime(connection) {}
    }
  }

  @Test(
    arguments: [
      (SQLITE_LIMIT_LENGTH, 268_439_552), (SQLITE_LIMIT_SQL_LENGTH, 4096),
      (SQLITE_LIMIT_COLUMN, 16), (SQLITE_LIMIT_EXPR_DEPTH, 16), (SQLITE_LIMIT_COMPOUND_SELECT, 2),
      (SQLITE_LIMIT_VDBE_OP, 4096), (SQLITE_LIMIT_FUNCTION_ARG, 4), (SQLITE_LIMIT_ATTACHED, 0),
      (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 16), (SQLITE_LIMIT_VARIABLE_NUMBER, 48),
      (SQLITE_LIMIT_TRIGGER_DEPTH, 1), (SQLITE_LIMIT_WORKER_THREADS, 0),
    ] as [(Int32, Int32)])
  func whatHadNoLimitHasOne(_ limit: Int32, _ most: Int32) throws {
    for mode in Self.modes {
      let (connection, loosened) = try loosened(mode)
      #expect(loosened.limit(limit) <= most, "\(mode)")
      withExtendedLifetime(connection) {}
    }
  }

  @Test(arguments: [("cell_size_check", "1"), ("mmap_size", "0"), ("cache_size", "-2000")])
  func whatWasSetIsSetBack(_ pragma: String, _ expected: String) throws {
    for mode in Self.modes {
      let (connection, _) = try loosened(mode)
      #expect(try connection.text("PRAGMA \(pragma)") == expected, "\(mode)")
    }
  }

  @Test(arguments: [("synchronous", "2"), ("secure_delete", "1"), ("wal_autocheckpoint", "0")])
  func whatAWriterNeedsIsSetBack(_ pragma: String, _ expected: String) throws {
    let (connection, _) = try loosened(.readWrite)
    #expect(try connection.text("PRAGMA \(pragma)") == expected)
  }
}

extension Connection {
  fileprivate func text(_ sql: String) throws -> String? {
    var text: String?
    try Statement.once(sql, self) { text = $0.text(0) }
    return text
  }
}

/// A connection that was loosened as it was opened.
@safe
private struct Loosened: @unchecked Sendable {
  // Looked at by the one test that has the connection, while it is open.
  let handle: OpaquePointer
  /// What could not be loosened.
  let failures: [String]

  func option(_ option: Int32) -> Int32 {
    var now: Int32 = -1
    _ = unsafe sps_sqlite3_configure(handle, option, -1, &now)
    return now
  }

  func limit(_ limit: Int32) -> Int32 { unsafe sqlite3_limit(handle, limit, -1) }

  // MARK: -

  private static let state = Lock<(path: String?, latest: Loosened?)>((nil, nil))

  static var latest: Loosened? { state.withLock { $0.latest } }

  /// Has connections to the file at `path` loosened, and no others.
  static func start(at path: String) throws {
    state.withLock { $0 = (path, nil) }
    try #require(unsafe sqlite3_auto_extension(unsafeBitCast(entry, to: EntryPoint.self)) == 0)
  }

  static func stop() {
    _ = unsafe sqlite3_cancel_auto_extension(unsafeBitCast(entry, to: EntryPoint.self))
  }

  private typealias EntryPoint = @convention(c) () -> Void
  private typealias Entry =
    @convention(c) (
      OpaquePointer?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, OpaquePointer?
    ) -> Int32

  private static let entry: Entry = { handle, _, _ in
    guard let handle = unsafe handle, let name = unsafe sqlite3_db_filename(handle, "main") else {
      return SQLITE_OK
    }
    let path = unsafe String(cString: name)
    guard Loosened.state.withLock({ $0.path == path }) else { return SQLITE_OK }
    let loosened = unsafe Loosened(loosening: handle)
    Loosened.state.withLock { $0.latest = loosened }
    return SQLITE_OK
  }

  private init(loosening handle: OpaquePointer) {
    unsafe self.handle = handle
    var failures: [String] = []
    let options = [
      (SQLITE_DBCONFIG_DEFENSIVE, Int32(0)), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 1),
      (SQLITE_DBCONFIG_ENABLE_TRIGGER, 1), (SQLITE_DBCONFIG_ENABLE_VIEW, 1),
      (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1), (SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1),
      (SQLITE_DBCONFIG_DQS_DML, 1), (SQLITE_DBCONFIG_DQS_DDL, 1),
    ]
    for (option, value) in options {
      var now: Int32 = -1
      let code = unsafe sps_sqlite3_configure(handle, option, value, &now)
      if code != SQLITE_OK || now != value { failures.append("option \(option)") }
    }
    for limit in SQLITE_LIMIT_LENGTH...SQLITE_LIMIT_WORKER_THREADS {
      unsafe sqlite3_limit(handle, limit, Int32.max)
      // There are compiled limits, which are far beyond a vault's.
      if unsafe sqlite3_limit(handle, limit, -1) < 8 { failures.append("limit \(limit)") }
    }
    let pragmas = [
      "cell_size_check = OFF", "mmap_size = 1048576", "cache_size = -200000", "synchronous = OFF",
      "secure_delete = OFF",
    ]
    for pragma in pragmas
    where unsafe sqlite3_exec(handle, "PRAGMA " + pragma, nil, nil, nil) != SQLITE_OK {
      failures.append(pragma)
    }
    self.failures = failures
  }
}
