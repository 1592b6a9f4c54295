internal import Glibc
internal import StorageCore

/// Whether the file system of a vault has locks.
///
/// SQLite takes a lock that the file system refuses for a lock that somebody else holds, and
/// reports SQLITE_BUSY for both: sqlite3's os_unix.c, `sqliteErrorFromPosixError` and
/// `unixShmSystemLock`.
enum LockSupport {
  /// Tries for a lock on another file of the folder, which nobody else can hold.
  ///
  /// The vault itself can't be used: closing it would release the process's locks on it (fcntl(2)).
  ///
  /// - Returns: the errno of a file system without locks; nil when there are locks, or when that
  ///   can't be known.
  static func refusal(besides path: String) -> Int32? {
    let folder = FilePath.folder(of: path)
    // From open(2), and missing in Glibc's module: __O_TMPFILE with O_DIRECTORY.
    let temporary = Int32(0o20000000) | O_DIRECTORY
    var descriptor = unsafe open(folder, temporary | O_RDWR | O_CLOEXEC, 0o600)
    if descriptor < 0 {
      // Not every file system has files without a name. The notice file holds no lock of this kind.
      let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
      descriptor = unsafe open(path + "-notice", flags)
    }
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var request = flock()
    request.l_type = Int16(F_WRLCK)
    request.l_whence = Int16(SEEK_SET)
    request.l_start = 1 << 20
    request.l_len = 1
    guard unsafe fcntl(descriptor, F_SETLK, &request) != 0, StorageError.isWithoutLocks(errno)
    else { return nil }
    return errno
  }
}
