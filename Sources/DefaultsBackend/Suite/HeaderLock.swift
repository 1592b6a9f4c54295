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

  private let file: OpenFile

  private init(_ path: String) throws(StorageError) {
    file = try OpenFile(lockFile: path)
  }

  // As in FileLock: a forked child may have the descriptor as well.
  deinit {
    file.unlock(byte: Self.holders)
    file.unlock(byte: Self.intent)
  }

  /// A share, or nil when somebody changes the header or is about to.
  ///
  /// Never waits.
  static func share(_ path: String) throws(StorageError) -> HeaderLock? {
    let lock = try HeaderLock(path)
    guard try lock.file.tryShare(byte: intent), try lock.file.tryShare(byte: holders) else {
      return nil
    }
    // Given back, or nobody could announce the intent while this share is held.
    lock.file.unlock(byte: intent)
    return lock
  }

  /// Whether somebody waits for all of the lock: then the share is to be given back soon.
  var isWanted: Bool { file.isLocked(byte: Self.intent) }

  /// All of the lock, waiting no longer than `deadline` for those before and those with shares.
  static func all(_ path: String, waiting deadline: Duration) throws(StorageError) -> HeaderLock {
    let lock = try HeaderLock(path)
    let end = ContinuousClock.now + deadline
    guard try lock.file.lock(byte: intent, until: end),
      try lock.file.lock(byte: holders, until: end)
    else {
      throw StorageError(
        .busy, "another process kept the suite's keys in use for \(deadline); try again",
        path: path)
    }
    return lock
  }
}
