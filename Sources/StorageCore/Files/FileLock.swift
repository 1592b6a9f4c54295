internal import Glibc

/// A lock file that one process, and in it one thread, holds at a time.
///
/// An open-file-description lock (fcntl(2), F_OFD_SETLK): it goes away with its holder, however
/// that dies, and two descriptors of one process exclude each other.
package struct FileLock: ~Copyable {
  // F_OFD_SETLK, which the headers show only to GNU sources.
  private static var setLock: Int32 { 37 }

  private let file: OpenFile

  /// Takes the lock, waiting no longer than `deadline`.
  ///
  /// The file at `path` is made if need be and never removed: a removed one would be a second lock.
  ///
  /// - Throws: `StorageError`: `busy` when the deadline passed, or what opening the file said.
  package init(_ path: String, waiting deadline: Duration) throws(StorageError) {
    let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK
    guard let file = try OpenFile(path, flags, permissions: 0o600) else {
      throw StorageError(.io, "the lock file vanished", path: path)
    }
    let start = ContinuousClock.now
    var pause = useconds_t(50)
    while try !Self.tryLock(file) {
      guard start.duration(to: .now) < deadline else {
        throw StorageError(
          .busy, "another process held the lock for \(deadline); try again", path: path)
      }
      usleep(pause)  // there is no lock call with a deadline; the pause grows to 2 ms
      pause = min(pause * 2, 2_000)
    }
    self.file = file
  }

  private static func tryLock(_ file: borrowing OpenFile) throws(StorageError) -> Bool {
    var request = flock()
    request.l_type = Int16(F_WRLCK)
    request.l_whence = Int16(SEEK_SET)
    guard unsafe fcntl(file.descriptor, Self.setLock, &request) != 0 else { return true }
    guard errno == EAGAIN || errno == EACCES || errno == EINTR else {
      throw StorageError(system: "lock", path: file.path)
    }
    return false
  }
}
