internal import CryptoCore
internal import StorageCore

/// A vault's file while it is open: connections, and what tells that it changed.
final class OpenedVault: Sendable {
  /// What tells whether somebody has written.
  enum Watch: Sendable {
    case index(WriteAheadIndex)
    case stamp(VaultFile.Stamp)
  }

  private static let idleLimit = 4

  let file: VaultFile
  let watch: Watch
  private let mode: Connection.Mode
  /// Used by whoever leads the queue of writers; the index is mapped for as long as it is there.
  let main: Connection
  /// Copies the log; nil where nothing can be written.
  let log: LogCopier?
  private let idle = Lock<[Connection]>([])
  /// A copy that goes away with this.
  private let copy: PrivateCopy?
  /// Whether what is read is a copy of the file as it was.
  var isCopy: Bool { copy != nil }

  // The last one that closes takes the log into the file, which those for reading can't.
  deinit { idle.withLock { $0 = [] } }

  /// Opens the file for reading and writing, and waits for others until `end`.
  init(writing file: VaultFile, until end: ContinuousClock.Instant) throws(StorageError) {
    self.file = file
    mode = .readWrite
    copy = nil
    guard file.isFolderWritable else { throw Self.readOnly(file) }
    main = try Connection(file.path, .readWrite, until: end)
    guard !main.isDenied else { throw Self.readOnly(file) }
    try VaultSchema.check(main)
    // What the header says about who may write is known by now.
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
    // SQLite opens for reading what it can't open for writing, for whatever reason.
    file.isWritable && file.isFolderWritable
      ? StorageError(.io, "the vault could not be opened for writing; try again", path: file.path)
      : StorageError(
        .readOnly,
        "the vault can't be written to, and nothing was changed; make its file and its folder "
          + "writable, or open it read-only", path: file.path)
  }

  /// Opens the file for reading alone.
  ///
  /// Where files can be made beside it, others may write meanwhile and their changes are followed.
  /// Elsewhere: a file that stands alone is read as it is, one with a log is read by SQLite with it,
  /// and where SQLite can't, or a journal is to be played back, all are copied to a private place and
  /// put together there.
  ///
  /// - Parameters:
  ///   - file: the file.
  ///   - end: how long others are waited for.
  ///   - isFull: whether there is no room for files beside it.
  /// - Throws: `StorageError` when it can't be opened, or is no vault.
  init(
    reading file: VaultFile, until end: ContinuousClock.Instant, isFull: Bool = false
  ) throws(StorageError) {
    self.file = file
    log = nil
    let stamp = try file.stamp()
    let standsAlone = try file.standsAlone()
    if !file.isFolderWritable || isFull, standsAlone {
      (main, mode, copy) = (try Self.open(file.path, .immutable, until: end), .immutable, nil)
      watch = .stamp(stamp)
      return
    }
    let (connection, copy) = try Self.openBesideLog(file, until: end)
    main = connection
    mode = connection.mode
    self.copy = copy
    // Without a log there is no index, and one would be made by asking for it.
    if copy == nil, try connection.hasLog(), let index = try connection.writeAheadIndex() {
      watch = .index(index)
    } else {
      watch = .stamp(stamp)
    }
  }

  /// A connection that sees what the log holds.
  private static func openBesideLog(
    _ file: VaultFile, until end: ContinuousClock.Instant
  ) throws(StorageError) -> (Connection, PrivateCopy?) {
    do throws(StorageError) {
      return (try openFinished(file, until: end), nil)
    } catch {
      guard !file.isFolderWritable, [.readOnly, .denied, .io, .unavailable].contains(error.code)
      else { throw error }
      let copy = try PrivateCopy(of: file)
      return (try open(copy.path, .immutable, until: end), copy)
    }
  }

  /// A connection for reading to a file that nobody died over.
  ///
  /// Who died while the file took up a log, or gave it up, left a rollback journal, and SQLite reads
  /// nothing before that was played back, which takes a connection for writing.
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
    // The log is opened, and its index mapped, with the first read.
    try Statement.once("SELECT count(*) FROM meta", connection) { _ in }
  }

  /// Lends a connection for reading, which waits for others no longer than `deadline`.
  func withReader<Result>(
    waiting deadline: Duration, _ body: (Connection) throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    let end = ContinuousClock.now + deadline
    let reader: Connection
    if let last = idle.withLock({ $0.popLast() }) {
      reader = last
    } else {
      reader = try Self.open(
        copy?.path ?? file.path, mode == .readWrite ? .readOnly : mode, until: end)
    }
    reader.wait(until: end)
    defer {
      idle.withLock { idle in if idle.count < Self.idleLimit { idle.append(reader) } }
    }
    return try body(reader)
  }
}
