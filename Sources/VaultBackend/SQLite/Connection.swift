internal import CSQLite
internal import CryptoCore
internal import Glibc
internal import StorageCore

/// One connection to a vault's file, set up for files that an enemy may have written.
///
/// One thread at a time uses it; the code that lends it out ensures that.
@safe
final class Connection: @unchecked Sendable {
  // A locked list lends a reader to one thread, and the queue of writers gives the main connection
  // to its leader; with SQLITE_OPEN_NOMUTEX SQLite requires no more than that.
  /// How the file is opened.
  enum Mode {
    case readWrite
    case readOnly
    /// The file does not change and nobody writes: no locks, no -wal, no -shm.
    case immutable
  }

  private let handle: OpaquePointer
  private let process = OwnProcess()
  let path: String
  let mode: Mode
  /// Whether SQLite could not open the file for writing as requested.
  let isDenied: Bool
  private let patience: Patience
  /// Whether files had a limit when somebody last said how long to wait, which is at the beginning
  /// of each use: asking at each step of a statement would take longer than some steps.
  private(set) var isSizeLimited = true
  /// Found by the address of their text: there are few, and a search is faster than hashing.
  // Unchecked for speed, since every statement reads this: one thread at a time uses the
  // connection, and no access is open while a statement is compiled, run or finalised.
  @exclusivity(unchecked)
  private var statements: [(text: UnsafePointer<UInt8>, statement: Statement)] = unsafe []

  /// Opens the file at an absolute and canonical path, which must exist and be checked already.
  ///
  /// All calls wait for other connections' locks until `end`, until ``wait(until:atMost:)`` sets
  /// another limit. Opening also waits, since it may have to read the file.
  ///
  /// - Throws: `StorageError`: `damaged` when it is no vault.
  init(
    _ path: String, _ mode: Mode, until end: ContinuousClock.Instant
  ) throws(StorageError) {
    let name = mode == .immutable ? Self.immutableName(path) : path
    var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOFOLLOW
    flags |= mode == .readWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY
    if mode == .immutable { flags |= SQLITE_OPEN_URI }
    var handle: OpaquePointer?
    let code = unsafe sqlite3_open_v2(name, &handle, flags, nil)
    guard code == SQLITE_OK, let handle = unsafe handle else {
      let number = unsafe handle.map { unsafe sqlite3_system_errno($0) } ?? 0
      unsafe sqlite3_close_v2(handle)
      throw StorageError(sqlite: code, "open", path: path, systemNumber: number)
    }
    unsafe self.handle = handle
    self.path = path
    patience = Patience(path)
    self.mode = mode
    // Nothing was read yet, so the answer comes from the open(2) call and not from the file's
    // content.
    isDenied = unsafe mode == .readWrite && sqlite3_db_readonly(handle, "main") != 0
    wait(until: end)
    try harden()
  }

  deinit {
    unsafe statements = []
    // SQLite would roll back and empty logs that the parent uses, so it is left as it is:
    // https://sqlite.org/howtocorrupt.html, "Carrying an open database connection across a fork()".
    guard process.isCurrent else { return }
    // Every statement is finalised, so this can't be SQLITE_BUSY. The last connection copies the
    // log.
    FileSizeLimit.withoutSignal { _ = unsafe sqlite3_close_v2(handle) }
  }

  /// The path as a URI, as https://sqlite.org/uri.html describes.
  private static func immutableName(_ path: String) -> String {
    var name = "file:"
    for byte in path.utf8 {
      let isPlain =
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
        || (0x61...0x7A).contains(byte) || [0x2F, 0x2D, 0x2E, 0x5F].contains(byte)
      if isPlain {
        name.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = Array("0123456789ABCDEF".unicodeScalars)
        name.unicodeScalars.append("%")
        name.unicodeScalars.append(digits[Int(byte >> 4)])
        name.unicodeScalars.append(digits[Int(byte & 15)])
      }
    }
    return name + "?immutable=1"
  }

  // MARK: - Hardening

  /// https://sqlite.org/security.html, "Untrusted SQLite Database Files".
  private func harden() throws(StorageError) {
    let options: [(Int32, Int32)] = [
      (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
      (SQLITE_DBCONFIG_ENABLE_TRIGGER, 0), (SQLITE_DBCONFIG_ENABLE_VIEW, 0),
      (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0), (SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0),
      (SQLITE_DBCONFIG_DQS_DML, 0), (SQLITE_DBCONFIG_DQS_DDL, 0),
    ]
    for (option, value) in options {
      try check(unsafe sps_sqlite3_configure(handle, option, value, nil), "set up")
    }
    for (limit, value) in Self.limits { unsafe sqlite3_limit(handle, limit, value) }
    try check(
      unsafe sqlite3_busy_handler(
        handle,
        { context, _ in
          unsafe Unmanaged<Patience>.fromOpaque(context!).takeUnretainedValue().wait() ? 1 : 0
        },
        Unmanaged.passUnretained(patience).toOpaque()), "set up")
    try execute("PRAGMA cell_size_check = ON")
    try execute("PRAGMA mmap_size = 0")
    // No temporary files, which would need a folder that can be written to: a statement that
    // changes a large value keeps what it replaces. https://sqlite.org/tempfiles.html
    try execute("PRAGMA temp_store = MEMORY")
    // SQLite's own default, which a file's header could raise to the size of the file:
    // https://sqlite.org/fileformat2.html#suggested_cache_size
    try execute("PRAGMA cache_size = -2000")
    if mode == .readWrite {
      // Durable at every commit: https://sqlite.org/pragma.html#pragma_synchronous. WAL with NORMAL
      // loses the last commits with the power. After a kill, the next opening ignores frames at the
      // end of the log that no commit covers: https://sqlite.org/walformat.html.
      try execute("PRAGMA synchronous = FULL")
      // Deleted and replaced content is overwritten: an old key slot must not stay in a free page.
      try execute("PRAGMA secure_delete = ON")
      // We make the checkpoints ourselves, when nobody waits for the commit.
      try execute("PRAGMA wal_autocheckpoint = 0")
    }
  }

  /// The smallest limits that the statements of this module fit in.
  private static let limits: [(Int32, Int32)] = [
    (SQLITE_LIMIT_LENGTH, Int32(VaultSchema.recordLimit)), (SQLITE_LIMIT_SQL_LENGTH, 4096),
    (SQLITE_LIMIT_COLUMN, 16), (SQLITE_LIMIT_EXPR_DEPTH, 16),
    (SQLITE_LIMIT_COMPOUND_SELECT, 2), (SQLITE_LIMIT_VDBE_OP, 4096),
    (SQLITE_LIMIT_FUNCTION_ARG, 4), (SQLITE_LIMIT_ATTACHED, 0),
    (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 16), (SQLITE_LIMIT_VARIABLE_NUMBER, 48),
    (SQLITE_LIMIT_TRIGGER_DEPTH, 1), (SQLITE_LIMIT_WORKER_THREADS, 0),
  ]

  /// Lets the next statement attach one database, as VACUUM does with its copy.
  func withAttaching<Result>(
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    unsafe sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 1)
    defer { unsafe sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0) }
    return try body()
  }

  // MARK: - Running

  /// Sets how long statements wait for other connections' locks: until `end`, and at most `limit`
  /// after the first lock, for all statements together.
  func wait(until end: ContinuousClock.Instant, atMost limit: Duration? = nil) {
    patience.begin(until: end, atMost: limit)
    isSizeLimited = FileSizeLimit.isSet
  }

  /// Runs a statement once that gives no rows.
  func execute(_ sql: String) throws(StorageError) {
    try Statement(sql, self).run()
  }

  /// A statement that is compiled once for the connection.
  func statement(_ sql: StaticString) throws(StorageError) -> Statement {
    let text = unsafe sql.utf8Start
    for index in unsafe statements.indices where unsafe statements[index].text == text {
      return unsafe statements[index].statement
    }
    let statement = try Statement(sql.description, self)
    unsafe statements.append((text, statement))
    return statement
  }

  /// A statement that is compiled for one use.
  func statement(once sql: String) throws(StorageError) -> Statement { try Statement(sql, self) }

  /// Drops the compiled statements, which keep a connection from some changes of the file.
  func forgetStatements() { unsafe statements = [] }

  /// Compiles a statement; for ``Statement`` alone, which finalises it.
  func prepare(_ sql: String) throws(StorageError) -> OpaquePointer {
    var statement: OpaquePointer?
    // The first one reads the schema, and for that may make the index of the log.
    let code = FileSizeLimit.withoutSignal {
      unsafe sqlite3_prepare_v3(
        handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    }
    guard code == SQLITE_OK, let statement = unsafe statement else {
      throw error(code, "read")
    }
    return unsafe statement
  }

  /// The error of a result code.
  func error(_ code: Int32, _ action: String) -> StorageError {
    let last = errno
    if code & 0xFF == SQLITE_BUSY, let number = patience.refusal {
      return StorageError(system: StorageError.locking, path: path, number: number)
    }
    var number = unsafe sqlite3_system_errno(handle)
    // A write of the log or its index fails without leaving its number there.
    if number == 0, code & 0xFF == SQLITE_IOERR, last == EFBIG { number = last }
    return StorageError(sqlite: code, action, path: path, systemNumber: number)
  }

  private func check(_ code: Int32, _ action: String) throws(StorageError) {
    guard code == SQLITE_OK else { throw error(code, action) }
  }

  // MARK: - Transactions

  /// Whether the file can't be written to although writing was requested.
  var isReadOnly: Bool { unsafe sqlite3_db_readonly(handle, "main") != 0 }

  /// Whether a transaction is open.
  var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

  /// Runs `body` in a snapshot of the file: all its reads see one moment.
  func reading<Result>(
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    try statement("BEGIN").run()
    defer { rollBack() }
    return try body()
  }

  /// Drops the pages in memory, so that the next reads come from the file.
  ///
  /// SQLite reads a page again when somebody wrote through SQLite, but not when a disk lost the
  /// page or somebody wrote past SQLite. Call it outside of transactions:
  /// https://sqlite.org/c3ref/db_release_memory.html
  func forgetPages() { unsafe sqlite3_db_release_memory(handle) }

  /// Begins a write transaction, as the only writer among all processes.
  func beginWriting() throws(StorageError) {
    try statement("BEGIN IMMEDIATE").run()
  }

  /// Commits the transaction durably.
  ///
  /// - Throws: `StorageError`; nothing is changed, except with `outcomeUnknown`.
  func commit() throws(StorageError) {
    do throws(StorageError) {
      try statement("COMMIT").run()
    } catch {
      rollBack()
      // The commit may be in the log although it could not be made durable: only the next read
      // shows whether it is. Where the log could not become longer, the commit is not in it.
      let number = Int32(truncatingIfNeeded: error.number ?? 0)
      let isCut = error.code == .full && number == StorageError.unwritten
      guard number & 0xFF == SQLITE_IOERR, !isCut else { throw error }
      throw StorageError(
        .outcomeUnknown, error.message + "; read back before you rely on it", path: path,
        number: error.number)
    }
  }

  /// Ends a transaction, if there is one, and undoes what it wrote.
  func rollBack() {
    guard isInTransaction else { return }
    // If this fails, SQLite has rolled back already: https://sqlite.org/lang_transaction.html.
    do throws(StorageError) { try statement("ROLLBACK").run() } catch {}
  }

  // MARK: - The write-ahead log

  /// Copies as much of the write-ahead log into the file as it can, and never waits.
  ///
  /// For ``LogCopier`` alone, which keeps writers away meanwhile. SQLite's other modes are not
  /// used: FULL, RESTART and TRUNCATE continue as PASSIVE when they do not get SQLite's write lock.
  ///
  /// - Returns: whether all of the log is in the file now.
  func checkpoint() throws(StorageError) -> Bool {
    var (count, copied): (Int32, Int32) = (0, 0)
    let code = FileSizeLimit.withoutSignal {
      unsafe sqlite3_wal_checkpoint_v2(
        handle, "main", SQLITE_CHECKPOINT_PASSIVE, &count, &copied)
    }
    try check(code, "tidy up")
    return count == copied
  }

  /// Whether the file uses a write-ahead log.
  func hasLog() throws(StorageError) -> Bool {
    var mode: String?
    try Statement.once("PRAGMA journal_mode", self) { mode = $0.text(0) }
    return mode == "wal"
  }

  /// Merges the log into the file and turns the log off; needs to be the only connection to the
  /// file.
  func endLog() throws(StorageError) {
    forgetStatements()
    var mode: String?
    try Statement.once("PRAGMA journal_mode = DELETE", self) { mode = $0.text(0) }
    guard mode == "delete" else {
      throw StorageError(
        .busy, "another process has the vault open; end it, then try again", path: path)
    }
  }

  /// Whether the path no longer leads to the open file.
  func hasMoved() throws(StorageError) -> Bool {
    var moved: Int32 = 0
    try check(
      unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved), "look at")
    return moved != 0
  }

  /// The log's index in shared memory, available after the first read; nil if there is none.
  func writeAheadIndex() throws(StorageError) -> WriteAheadIndex? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    try check(
      unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file), "look at")
    guard let file = unsafe file else { return nil }
    return unsafe WriteAheadIndex(file)
  }

  /// Copies the whole file, as it is at one moment, into an empty one.
  ///
  /// - Parameters:
  ///   - destination: the empty file.
  ///   - progress: called with the number of copied pages and of all pages.
  /// - Throws: `StorageError`; the destination's content is then useless.
  func copy(
    to destination: Connection, _ progress: (Int, Int) -> Void
  ) throws(StorageError) {
    guard let backup = unsafe sqlite3_backup_init(destination.handle, "main", handle, "main")
    else {
      throw destination.error(unsafe sqlite3_extended_errcode(destination.handle), "copy to")
    }
    var code = SQLITE_OK
    repeat {
      code = FileSizeLimit.withoutSignal { unsafe sqlite3_backup_step(backup, 1024) }
      let total = Int(unsafe sqlite3_backup_pagecount(backup))
      progress(total - Int(unsafe sqlite3_backup_remaining(backup)), total)
    } while code == SQLITE_OK
    let result = unsafe sqlite3_backup_finish(backup)
    guard code == SQLITE_DONE, result == SQLITE_OK else {
      throw destination.error(code == SQLITE_DONE ? result : code, "copy")
    }
  }
}
