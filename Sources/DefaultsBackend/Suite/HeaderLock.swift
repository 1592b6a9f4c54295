internal import StorageCore

/// Keeps the header and writes that are not in the file yet apart, across processes.
///
/// A pending write is sealed under keys that the header holds. Were the header to change before it
/// is written, those keys might be gone and the write with them. So a process with pending writes
/// holds a share of this lock, and whoever changes the header holds all of it. One who waits for
/// all of it says so on a second byte: then nobody takes a new share, and the wait is over when
/// those that are held have been flushed.
///
/// Locks of the open file description (fcntl(2)), which vanish with their process.
final class HeaderLock: Sendable {
  private static let holders = 0
  private static let intent = 1

  private let locks: LockFile

  private init(_ locks: consuming LockFile) {
    self.locks = locks
  }

  /// A share, or nil when somebody changes the header or is about to, or removes the lock file.
  ///
  /// Never waits.
  static func share(_ path: String) throws(StorageError) -> HeaderLock? {
    let lock = HeaderLock(try LockFile(path))
    guard try lock.locks.file.tryShare(byte: intent), try lock.locks.file.tryShare(byte: holders),
      try lock.locks.isInPlace()
    else { return nil }
    // Given back, or nobody could announce the intent while this share is held.
    try lock.locks.file.unlock(byte: intent)
    return lock
  }

  /// Whether somebody waits for all of the lock, or has removed it: then the share is to be given
  /// back soon.
  var isWanted: Bool {
    do throws(StorageError) {
      guard !locks.file.isLocked(byte: Self.intent) else { return true }
      return try !locks.isInPlace()
    } catch {
      return true
    }
  }

  /// All of the lock, waiting no longer than `deadline` for those before and those with shares.
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
