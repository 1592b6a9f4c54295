internal import StorageCore

/// Prevents changes of the header while a process has writes that are not yet in the file.
///
/// A pending write is sealed under keys that the header holds. If the header changed before that
/// write reached the file, its keys might be gone, and the write would be lost. A process with
/// pending writes therefore holds a shared lock, and a process that changes the header holds an
/// exclusive lock. A process that waits for the exclusive lock announces this on a second byte.
/// Nobody then takes a new shared lock, and the wait ends when the holders of shared locks have
/// flushed their writes.
///
/// Uses open file description locks (fcntl(2)), which end with their process.
final class HeaderLock: Sendable {
  private static let holders = 0
  private static let intent = 1

  private let locks: LockFile

  private init(_ locks: consuming LockFile) {
    self.locks = locks
  }

  /// Takes a shared lock; nil while somebody changes the header, is about to, or removes the lock
  /// file.
  ///
  /// Never waits.
  static func share(_ path: String) throws(StorageError) -> HeaderLock? {
    let lock = HeaderLock(try LockFile(path))
    guard try lock.locks.file.tryShare(byte: intent), try lock.locks.file.tryShare(byte: holders),
      try lock.locks.isInPlace()
    else { return nil }
    // Release this byte: a held share of it would prevent others from announcing their intent.
    try lock.locks.file.unlock(byte: intent)
    return lock
  }

  /// Whether the shared lock should be released soon.
  ///
  /// True when somebody waits for the exclusive lock or has removed the lock file.
  var isWanted: Bool {
    do throws(StorageError) {
      guard !locks.file.isLocked(byte: Self.intent) else { return true }
      return try !locks.isInPlace()
    } catch {
      return true
    }
  }

  /// Takes the exclusive lock; waits for earlier holders and shared locks, at most until
  /// `deadline`.
  static func all(_ path: String, waiting deadline: Duration) throws(StorageError) -> HeaderLock {
    do throws(StorageError) {
      return HeaderLock(try LockFile.locking([intent, holders], of: path, waiting: deadline))
    } catch {
      guard error.code == .busy else { throw error }
      throw StorageError(
        .busy, "another process kept the suite's keys in use for too long; try again", path: path)
    }
  }
}
