internal import Glibc
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
  private static let holders: Int = 0
  private static let intent: Int = 1
  // F_OFD_SETLK, which the headers show only to GNU sources.
  private static var setLock: Int32 { 37 }

  private let file: OpenFile

  private init(_ path: String) throws(StorageError) {
    let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK
    guard let file = try OpenFile(path, flags, permissions: 0o600) else {
      throw StorageError(.io, "the lock file vanished", path: path)
    }
    self.file = file
  }

  /// A share, or nil when somebody changes the header or is about to.
  ///
  /// Never waits.
  static func share(_ path: String) throws(StorageError) -> HeaderLock? {
    let lock = try HeaderLock(path)
    guard try lock.take(F_RDLCK, at: intent), try lock.take(F_RDLCK, at: holders) else {
      return nil
    }
    // Given back, or nobody could announce the intent while this share is held.
    _ = try lock.take(F_UNLCK, at: intent)
    return lock
  }

  /// All of the lock, waiting no longer than `deadline` for those before and those with shares.
  static func all(_ path: String, waiting deadline: Duration) throws(StorageError) -> HeaderLock {
    let lock = try HeaderLock(path)
    let start = ContinuousClock.now
    for byte in [intent, holders] {
      var pause = useconds_t(50)
      while try !lock.take(F_WRLCK, at: byte) {
        guard start.duration(to: .now) < deadline else {
          throw StorageError(
            .busy, "another process kept the suite's keys in use for \(deadline); try again",
            path: path)
        }
        usleep(pause)
        pause = min(pause * 2, 2_000)
      }
    }
    return lock
  }

  private func take(_ kind: Int32, at byte: Int) throws(StorageError) -> Bool {
    var request = flock()
    request.l_type = Int16(kind)
    request.l_whence = Int16(SEEK_SET)
    request.l_start = off_t(byte)
    request.l_len = 1
    guard unsafe fcntl(file.descriptor, Self.setLock, &request) != 0 else { return true }
    guard errno == EAGAIN || errno == EACCES || errno == EINTR else {
      throw StorageError(system: "lock", path: file.path)
    }
    return false
  }
}
