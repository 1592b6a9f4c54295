internal import CryptoCore
internal import StorageCore

/// A vault's file while it is open: its connections, and the way to notice changes.
final class OpenedVault: Sendable {
  /// The way to notice that somebody has written.
  enum Watch: Sendable {
    case index(WriteAheadIndex)
    case stamp(VaultFile.Stamp)
  }

  private static let idleLimit = 4

  let file: VaultFile
  let watch: Watch
  private let mode: Connection.Mode
  /// The leader of the queue of writers uses it; the index stays mapped as long as it exists.
  let main: Connection
  /// Copies the log; nil for a vault that can't be written to.
  let log: LogCopier?
  private let idle = Lock<[Connection]>([])
  /// Why there are no files beside the vault, of a vault that is read without them.
  let lackOfRoom: StorageError?

  // The connection that closes last merges the log into the file, which read-only connections can't
  // do. So they close first.
  deinit { idle.withLock { $0 = [] } }

  /// Opens the file for reading and writing, and waits for other processes until `end`.
  init(writing file: VaultFile, until end: ContinuousClock.Instant) throws(StorageError) {
    self.file = file
    mode = .readWrite
    lackOfRoom = nil
    guard file.isFolderWritable else { throw Self.readOnly(file) }
    main = try Connection(file.path, .readWrite, until: end)
    guard !main.isDenied else { throw Self.readOnly(file) }
    try VaultSchema.check(main)
    // By now the file's header was read, which may forbid writing.
    guard !main.isReadOnly else {
      throw StorageError(
        .damaged,
        "the file was written by another version of SQLite, or was altered; restore a backup",
        path: file.path)
    }
    try Self.useLog(main)
    guard let index = try main.writeAheadIndex() else {
      throw StorageError(
        .unsupported,
        "the file system offers no shared memory; put the vault on a local file system",
        path: file.path)
    }
    watch = .index(index)
    log = LogCopier(file, main, index)
  }

  /// Why a file can't be written to.
  static func readOnly(_ file: VaultFile) -> StorageError {
    // SQLite silently opens a file read-only if it can't open it for writing, whatever the reason.
    file.isWritable && file.isFolderWritable
      ? StorageError(.io, "the vault could not be opened for writing; try again", path: file.path)
      : StorageError(
        .readOnly,
        "the vault can't be written to, and nothing was changed; make its file and its folder "
          + "writable, or open it read-only", path: file.path)
  }

  /// Opens the file read-only.
  ///
  /// If files can be made beside the vault, other processes may write meanwhile and their changes
  /// are followed. Otherwise a file that stands alone is read as it is, and SQLite reads a file
  /// with a log together with the log if its writer left the log's index.
  ///
  /// - Parameters:
  ///   - file: the file.
  ///   - end: how long to wait for other processes.
  ///   - lackOfRoom: why there can be no files beside the vault, if a full disk or a limit forbids
  ///     them.
  /// - Throws: `StorageError` when it can't be opened, or is no vault; `readOnly` when a program ended
  ///   in the middle of a write, and nothing can be written here to finish that.
  init(
    reading file: VaultFile, until end: ContinuousClock.Instant,
    without lackOfRoom: StorageError? = nil
  ) throws(StorageError) {
    self.file = file
    self.lackOfRoom = lackOfRoom
    log = nil
    let stamp = try file.stamp()
    let standsAlone = try file.standsAlone()
    if !file.isFolderWritable || lackOfRoom != nil, standsAlone {
      (main, mode) = (try Self.open(file.path, .immutable, until: end), .immutable)
      watch = .stamp(stamp)
      return
    }
    do throws(StorageError) {
      main = try Self.openFinished(file, until: end)
    } catch {
      guard !file.isFolderWritable, try file.hasLog(),
        [.readOnly, .denied, .io, .unavailable].contains(error.code)
      else { throw error }
      throw StorageError(
        .readOnly,
        "a program ended in the middle of its work on the vault, and this one can't finish it: open the "
          + "vault once with a program that may write to the file and its folder (\(error.message))",
        path: file.path, number: error.number)
    }
    mode = main.mode
    // Without a log there is no index, and asking for one would create it.
    if try main.hasLog(), let index = try main.writeAheadIndex() {
      watch = .index(index)
    } else {
      watch = .stamp(stamp)
    }
  }

  /// A read-only connection to a file without an unfinished journal.
  ///
  /// A process that died while the file switched to a log, or back, left a rollback journal. SQLite
  /// reads nothing before the journal was played back, which takes a writable connection.
  private static func openFinished(
    _ file: VaultFile, until end: ContinuousClock.Instant
  ) throws(StorageError) -> Connection {
    do throws(StorageError) {
      return try open(file.path, .readOnly, until: end)
    } catch {
      let isUnfinished = error.number == Int(StorageError.unfinished)
      guard isUnfinished, file.isWritable, file.isFolderWritable else { throw error }
      try VaultSchema.check(Connection(file.path, .readWrite, until: end))
      return try open(file.path, .readOnly, until: end)
    }
  }

  private static func open(
    _ path: String, _ mode: Connection.Mode, until end: ContinuousClock.Instant
  ) throws(StorageError) -> Connection {
    let connection = try Connection(path, mode, until: end)
    try VaultSchema.check(connection)
    return connection
  }

  private static func useLog(_ connection: Connection) throws(StorageError) {
    var mode: String?
    try Statement.once("PRAGMA journal_mode", connection) { mode = $0.text(0) }
    if mode != "wal" {
      try Statement.once("PRAGMA journal_mode = WAL", connection) { mode = $0.text(0) }
    }
    guard mode == "wal" else {
      throw StorageError(
        .unsupported,
        "the file system can't keep a write-ahead log; put the vault on a local file system",
        path: connection.path)
    }
    // The first read opens the log and maps its index.
    try Statement.once("SELECT count(*) FROM meta", connection) { _ in }
  }

  /// Lends a read-only connection, which waits for other processes no longer than `deadline`.
  func withReader<Result>(
    waiting deadline: Duration, _ body: (Connection) throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    let end = ContinuousClock.now + deadline
    let reader: Connection
    if let last = idle.withLock({ $0.popLast() }) {
      reader = last
    } else {
      reader = try Self.open(file.path, mode == .readWrite ? .readOnly : mode, until: end)
    }
    reader.wait(until: end)
    defer {
      idle.withLock { idle in if idle.count < Self.idleLimit { idle.append(reader) } }
    }
    return try body(reader)
  }
}
