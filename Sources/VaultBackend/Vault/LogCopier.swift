internal import CryptoCore
internal import Glibc
internal import StorageCore

/// Copies a vault's write-ahead log into its file while nobody can write.
///
/// SQLite 3.7.0 to 3.51.2 loses commits when one begins the log anew during a checkpoint that found
/// the whole log copied already (https://sqlite.org/wal.html#walresetbug): the checkpoint then marks
/// frames of the new log as copied that are not. A new log is begun by a commit, under SQLite's write
/// lock, so that lock is held here for as long as a checkpoint runs, which all processes heed, also
/// those of another release and of other programs. Since a checkpoint can't run inside its own
/// connection's transaction, there is a second connection for it.
///
/// Others begin a new log in two more cases, neither of them beside a checkpoint: a recovery of the
/// index takes the lock that checkpoints hold, and whoever changes the journal mode or closes the last
/// connection has locked the whole file.
///
/// Used by whoever leads the queue of writers.
final class LogCopier: Sendable {
  private let file: VaultFile
  /// Takes the write lock.
  private let main: Connection
  private let index: WriteAheadIndex
  /// Runs the checkpoints; made for the first one.
  private let second = Lock<Connection?>(nil)

  init(_ file: VaultFile, _ main: Connection, _ index: WriteAheadIndex) {
    self.file = file
    self.main = main
    self.index = index
  }

  /// Copies what readers allow.
  ///
  /// - Returns: whether all of the log is in the file now.
  /// - Throws: `StorageError`: `busy` when others wrote for as long as the connection may wait.
  @discardableResult
  func copy() throws(StorageError) -> Bool {
    let second = try checkpointing()
    try main.beginWriting()
    // Nothing was written. Until here nobody can commit.
    defer { main.rollBack() }
    return try second.checkpoint()
  }

  /// Copies the log and cuts it off, so that nothing is left of the pages that were in it.
  ///
  /// SQLite's own way, TRUNCATE, can't be used: see ``Connection/checkpoint()``. So a commit of ours
  /// begins the log anew, as any would, and has SQLite cut off what is behind it.
  ///
  /// SQLite begins no new log while somebody reads the old one. Who comes after the copy reads the file
  /// alone, so those that came before need only the time to end.
  ///
  /// - Parameter pause: how long they are given, in microseconds.
  /// - Returns: false when somebody reads what is in the log.
  /// - Throws: `StorageError`: `busy` when others wrote for as long as the connection may wait.
  func empty(after pause: useconds_t) throws(StorageError) -> Bool {
    guard try file.hasLog() else { return true }
    guard try copy() else { return false }
    if pause > 0 { usleep(pause) }
    // https://sqlite.org/pragma.html#pragma_journal_size_limit
    try main.execute("PRAGMA journal_size_limit = 0")
    defer {
      do throws(StorageError) { try main.execute("PRAGMA journal_size_limit = -1") } catch {}
    }
    try main.beginWriting()
    defer { main.rollBack() }
    let before = index.state
    // Page 1, as it is: SQLite writes it whatever the number was.
    try VaultSchema.raiseVersion(main)
    try main.commit()
    let after = index.state
    guard after.salts != before.salts || before.frames == 0 else { return false }
    // Whether the log was cut off, SQLite does not say.
    return try file.logSize() <= after.logSize
  }

  /// The connection for checkpoints, which has the same file open as the other.
  private func checkpointing() throws(StorageError) -> Connection {
    if let second = second.withLock({ $0 }) { return second }
    let new = try Connection(file.path, .readWrite, until: .now)
    // The log is opened with the first read.
    try VaultSchema.check(new)
    guard try !main.hasMoved(), try !new.hasMoved() else {
      throw StorageError(
        .unavailable, "the vault's file was replaced meanwhile; try again", path: file.path)
    }
    second.withLock { $0 = new }
    return new
  }
}
