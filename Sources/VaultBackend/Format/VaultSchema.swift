internal import CSQLite
internal import CryptoCore
internal import StorageCore

/// A vault's file as SQLite sees it: docs/file-format.md, section "Vault".
enum VaultSchema {
  /// `SPSv`, in the file's header for file(1) and for us.
  static let applicationID: Int64 = 0x5350_5376
  static let version: Int64 = 1
  /// The length of a page in bytes.
  static let pageSize = 2048
  /// The longest row: a payload of the longest length, its seal and its name.
  static let recordLimit = 1 << 28 + 1 << 12

  /// The rows of the table `meta`.
  enum Row {
    static let header: Int64 = 1
    static let manifest: Int64 = 2
    static let horizon: Int64 = 3
  }

  /// All definitions that the file may contain, by name.
  private static let definitions: [(kind: String, name: String, sql: String?)] = [
    (
      "table", "meta",
      "CREATE TABLE meta (id INTEGER PRIMARY KEY, sequence INTEGER NOT NULL, value BLOB NOT NULL) "
        + "STRICT"
    ),
    (
      "table", "record",
      "CREATE TABLE record (sequence INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, value BLOB) "
        + "STRICT"
    ),
    ("index", "sqlite_autoindex_record_1", nil),
    ("index", "tombstone", "CREATE INDEX tombstone ON record (sequence) WHERE value IS NULL"),
  ]

  /// Refuses a file whose definitions differ from a vault's.
  ///
  /// - Throws: `StorageError`: `damaged` for a database that is no vault, `unsupported` for one of
  ///   another version.
  static func check(_ connection: Connection) throws(StorageError) {
    guard try integer("PRAGMA application_id", connection) == applicationID else {
      throw notAVault(connection.path)
    }
    let version = try integer("PRAGMA user_version", connection)
    guard version == Self.version else {
      throw StorageError(
        .unsupported,
        "this release can't read vault version \(version); export its values with the program that "
          + "wrote it, and import them here",
        path: connection.path)
    }
    var index = 0
    var isOurs = true
    // Reads one row more than allowed, each of a bounded length: the file may contain anything.
    try connection.statement(
      "SELECT type, name, substr(sql, 1, 200) FROM sqlite_schema ORDER BY name LIMIT 5"
    ).run { (row) throws(StorageError) in
      let expected = index < definitions.count ? sorted[index] : nil
      isOurs =
        isOurs && expected?.kind == row.text(0) && expected?.name == row.text(1)
        && expected?.sql == row.text(2)
      index += 1
      return isOurs
    }
    guard isOurs, index == definitions.count else { throw notAVault(connection.path) }
  }

  /// Whether a file is a vault, whatever its records.
  static func isVault(
    _ file: VaultFile, until end: ContinuousClock.Instant
  ) throws(StorageError) -> Bool {
    do throws(StorageError) {
      guard try file.check(mending: false) else { return false }
      try check(try Connection(file.path, .readOnly, until: end))
      return true
    } catch {
      guard error.code == .damaged else { throw error }
      return false
    }
  }

  private static let sorted = definitions.sorted { $0.name < $1.name }

  private static func integer(
    _ sql: String, _ connection: Connection
  ) throws(StorageError) -> Int64 {
    var value: Int64 = 0
    try Statement.once(sql, connection) { value = $0.integer(0) }
    return value
  }

  private static func notAVault(_ path: String) -> StorageError {
    StorageError(
      .damaged, "the file is not a vault, or was altered; move it away, or restore a backup",
      path: path)
  }

  /// The statements that turn an empty file into an empty vault.
  private static var statements: [String] {
    // The page size comes first: SQLite accepts it only before the first page exists.
    ["page_size = \(pageSize)", "application_id = \(applicationID)", "user_version = \(version)"]
      .map { "PRAGMA \($0)" }
      + definitions.compactMap(\.sql)
      + [Row.manifest, Row.horizon].map { "INSERT INTO meta VALUES (\($0), 0, x'')" }
  }

  /// Writes the version into the file, in a transaction of the caller's.
  static func writeVersion(_ connection: Connection) throws(StorageError) {
    try connection.execute("PRAGMA user_version = \(version)")
  }

  /// Makes an empty vault of an empty file.
  static func create(_ connection: Connection) throws(StorageError) {
    for statement in statements { try connection.execute(statement) }
  }

  /// The bytes of an empty vault.
  ///
  /// Made in memory, so that the file can appear whole or not at all.
  static func emptyFile(path: String) throws(StorageError) -> [UInt8] {
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX
    var code = unsafe sqlite3_open_v2(":memory:", &handle, flags, nil)
    defer { unsafe sqlite3_close_v2(handle) }
    let sql = statements.joined(separator: "; ")
    if code == SQLITE_OK { code = unsafe sqlite3_exec(handle, sql, nil, nil, nil) }
    var count: sqlite3_int64 = 0
    guard code == SQLITE_OK,
      let start = unsafe sqlite3_serialize(handle, "main", &count, 0)
    else {
      throw StorageError(sqlite: code == SQLITE_OK ? SQLITE_NOMEM : code, "make", path: path)
    }
    defer { unsafe sqlite3_free(start) }
    var bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: Int(count)))
    // https://sqlite.org/fileformat2.html#file_format_version_numbers: 2 is write-ahead logging.
    bytes[18] = 2
    bytes[19] = 2
    return bytes
  }
}
