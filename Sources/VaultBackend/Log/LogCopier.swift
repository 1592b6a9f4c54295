internal import CryptoCore
internal import Glibc
internal import StorageCore

/// Copies a vault's write-ahead log into its file while nobody can write.
///
/// SQLite 3.7.0 to 3.51.2 loses commits when one begins the log anew during a checkpoint that found
/// the whole log copied already (https://sqlite.org/wal.html#walresetbug): the checkpoint then
/// marks frames of the new log as copied that are not. A commit begins a new log under SQLite's
/// write lock. So this type holds that lock for as long as a checkpoint runs; all processes respect
/// the lock, also other releases and other programs. A checkpoint can't run inside its own
/// connection's transaction, so a second connection runs it.
///
/// A new log is begun in two more cases, which never overlap a checkpoint: a recovery of the index
/// takes the lock that checkpoints hold, and a change of the journal mode or the close of the last
/// connection locks the whole file.
///
/// The leader of the queue of writers uses it.
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

  /// Copies as much as readers allow.
  ///
  /// - Returns: whether all of the log is in the file now.
  /// - Throws: `StorageError`: `busy` when others kept writing until the connection's wait ended.
  @discardableResult
  func copy() throws(StorageError) -> Bool {
    let second = try checkpointing()
    try main.beginWriting()
    // Nothing was written. Nobody can commit before this rollback.
    defer { main.rollBack() }
    return try second.checkpoint()
  }

  /// Copies the log and truncates it, so that none of its pages remain.
  ///
  /// SQLite's own way, TRUNCATE, can't be used: see ``Connection/checkpoint()``. So a commit of
  /// ours begins the log anew, as any commit would, and makes SQLite cut off the rest.
  ///
  /// SQLite begins no new log while somebody reads the old one. Readers that start after the copy
  /// read only the file, so only the earlier readers have to end.
  ///
  /// - Parameter pause: how long to wait for the earlier readers, in microseconds.
  /// - Returns: false when somebody still reads the log.
  /// - Throws: `StorageError`: `busy` when others kept writing until the connection's wait ended.
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
    // This rewrites page 1 unchanged: SQLite writes the page even if the number stays the same.
    try VaultSchema.writeVersion(main)
    try main.commit()
    let after = index.state
    guard after.salts != before.salts || before.frames == 0 else { return false }
    // SQLite does not say whether the log was cut off, so its size is checked.
    return try file.logSize() <= after.logSize
  }

  /// The connection for checkpoints, which must have the same file open as the main one.
  private func checkpointing() throws(StorageError) -> Connection {
    if let second = second.withLock({ $0 }) { return second }
    let new = try Connection(file.path, .readWrite, until: .now)
    // The first read opens the log.
    try VaultSchema.check(new)
    guard try !main.hasMoved(), try !new.hasMoved() else {
      throw StorageError(
        .unavailable, "the vault's file was replaced meanwhile; try again", path: file.path)
    }
    second.withLock { $0 = new }
    return new
  }
}
