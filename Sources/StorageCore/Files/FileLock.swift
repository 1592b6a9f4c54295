internal import CryptoCore
internal import Glibc

/// A lock file that one thread of one process holds at a time.
///
/// It uses open-file-description locks (fcntl(2), F_OFD_SETLK). The kernel releases such a lock
/// when its holder dies in any way, and two descriptors of one process exclude each other.
package struct FileLock: ~Copyable {
  /// The byte that the holder locks.
  private static var holder: Int { 0 }
  /// The byte that a waiter locks while it waits for the holder's byte.
  ///
  /// A waiter polls. Without this byte, a process that writes all the time would take the lock
  /// again before any waiter noticed that it was free: measured, a second process waited for
  /// seconds.
  private static var turnstile: Int { 1 }

  private let locks: LockFile

  /// Takes the lock, waiting no longer than `deadline`.
  ///
  /// The file at `path` is made if it is missing, and this package never removes it. If another
  /// program removes the file, waiters use the new file, and the holder of the old file excludes no
  /// one any more.
  ///
  /// - Throws: `StorageError`: `busy` when the deadline passed, `cancelled`, or the error of
  ///   opening the file.
  package init(
    _ path: String, waiting deadline: Duration, _ cancellation: Cancellation? = nil
  ) throws(StorageError) {
    try self.init(path, in: nil, waiting: deadline, cancellation)
  }

  /// Takes the lock of a file in an open folder, as ``init(_:waiting:_:)``; without a folder, of a
  /// path.
  package init(
    _ name: String, in folder: FolderDescriptor?, waiting deadline: Duration,
    _ cancellation: Cancellation? = nil
  ) throws(StorageError) {
    let locks = try LockFile.locking(
      [Self.turnstile, Self.holder], of: name, in: folder, waiting: deadline, cancellation)
    try locks.file.unlock(byte: Self.turnstile)
    self.locks = locks
  }
}

/// An open lock file that releases its locks when it goes out of scope.
///
/// Closing the file is not enough: the locks belong to the open file description, and a child of
/// fork(2) shares that description and would keep the locks as long as the child lives.
package struct LockFile: ~Copyable {
  package let file: OpenFile
  private let folder: FolderDescriptor?
  private let process = OwnProcess()

  /// Opens the file of this name in a folder, or at a path, and makes it if it is missing.
  package init(_ name: String, in folder: FolderDescriptor? = nil) throws(StorageError) {
    file = try OpenFile(lockFile: name, in: folder)
    self.folder = folder
  }

  /// Opens a file in a folder, or at a path, and locks bytes of it in order, exclusively.
  ///
  /// - Throws: `StorageError`: `busy` when the deadline passed, or the error of opening the file.
  package static func locking(
    _ bytes: [Int], of name: String, in folder: FolderDescriptor? = nil,
    waiting deadline: Duration, _ cancellation: Cancellation? = nil
  ) throws(StorageError) -> LockFile {
    let end = ContinuousClock.now + deadline
    repeat {
      let locks = try LockFile(name, in: folder)
      var isLocked = true
      for byte in bytes where isLocked {
        isLocked = try locks.file.lock(byte: byte, until: end, cancellation)
      }
      guard isLocked else { break }
      if try locks.isInPlace() { return locks }
    } while ContinuousClock.now < end
    throw StorageError(
      .busy, "another process or thread held the lock until the deadline; try again",
      path: folder?.path(of: name) ?? name)
  }

  /// Whether the name still leads to this file; locks on a removed file exclude no one.
  package func isInPlace() throws(StorageError) -> Bool { try file.isInPlace(in: folder) }

  // In a forked child, the locks still belong to the parent.
  deinit { if process.isCurrent { file.unlockAll() } }
}

/// Locks of single bytes, which may be beyond the end of the file. A lock belongs to the open file.
extension OpenFile {
  // F_OFD_SETLK and F_OFD_GETLK, which the headers define only with _GNU_SOURCE.
  private static var setLock: Int32 { 37 }
  private static var getLock: Int32 { 36 }

  /// Opens a lock file in a folder, or at a path, and makes it if it is missing; the file stays
  /// empty.
  fileprivate init(lockFile name: String, in folder: FolderDescriptor?) throws(StorageError) {
    let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK
    let file =
      if let folder { try OpenFile(name, in: folder, flags) } else { try OpenFile(name, flags) }
    guard let file else {
      throw StorageError(
        .io, "the lock file disappeared while it was opened; try again",
        path: folder?.path(of: name) ?? name)
    }
    self = file
  }

  /// Whether the path with which the file was opened still leads to this file, in its folder as it
  /// was opened.
  package func isInPlace(in folder: FolderDescriptor? = nil) throws(StorageError) -> Bool {
    let found =
      if let folder {
        try folder.status(of: FilePath.name(of: path))
      } else {
        try FileStatus.ofEntry(path)
      }
    return try found?.identity == status().identity
  }

  /// Locks a byte exclusively for this open file.
  ///
  /// - Returns: false when another open file held the lock until `end`.
  /// - Throws: `cancelled` when `cancellation` was cancelled, or the error of fcntl(2).
  package func lock(
    byte: Int, until end: ContinuousClock.Instant, _ cancellation: Cancellation? = nil
  ) throws(StorageError) -> Bool {
    var pause = useconds_t(50)
    while try !tryLock(byte: byte, F_WRLCK) {
      guard ContinuousClock.now < end else { return false }
      if cancellation?.isCancelled == true {
        throw StorageError(.cancelled, "the program stopped waiting for the lock", path: path)
      }
      usleep(pause)  // no lock call takes a deadline; the pause grows to 2 ms
      pause = min(pause * 2, 2_000)
    }
    return true
  }

  /// Takes a shared lock of a byte, unless another open file holds an exclusive lock.
  package func tryShare(byte: Int) throws(StorageError) -> Bool {
    try tryLock(byte: byte, F_RDLCK)
  }

  /// Whether another open file holds an exclusive lock of a byte.
  package func isLocked(byte: Int) -> Bool {
    var request = Self.request(byte, F_RDLCK)
    // If this can't be known, the caller finds out when it takes the lock.
    guard unsafe fcntl(descriptor, Self.getLock, &request) == 0 else { return false }
    return request.l_type != Int16(F_UNLCK)
  }

  /// Whether another open file holds a shared or an exclusive lock of a byte.
  package func isShared(byte: Int) -> Bool {
    var request = Self.request(byte, F_WRLCK)
    guard unsafe fcntl(descriptor, Self.getLock, &request) == 0 else { return false }
    return request.l_type != Int16(F_UNLCK)
  }

  /// Releases a shared or an exclusive lock of a byte.
  package func unlock(byte: Int) throws(StorageError) {
    _ = try tryLock(byte: byte, F_UNLCK)
  }

  /// Releases the locks of all bytes.
  fileprivate func unlockAll() {
    var request = Self.request(0, F_UNLCK)
    request.l_len = 0  // to the end
    // A failure is ignored: nothing could be done about it, and the file is closed next.
    _ = unsafe fcntl(descriptor, Self.setLock, &request)
  }

  private func tryLock(byte: Int, _ kind: Int32) throws(StorageError) -> Bool {
    var request = Self.request(byte, kind)
    guard unsafe fcntl(descriptor, Self.setLock, &request) != 0 else { return true }
    guard errno == EAGAIN || errno == EACCES || errno == EINTR else {
      throw StorageError(system: StorageError.locking, path: path)
    }
    return false
  }

  private static func request(_ byte: Int, _ kind: Int32) -> flock {
    var request = flock()
    request.l_type = Int16(kind)
    request.l_whence = Int16(SEEK_SET)
    request.l_start = off_t(byte)
    request.l_len = 1
    return request
  }
}
