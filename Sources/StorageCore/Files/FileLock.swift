internal import Glibc

/// A lock file that one process, and in it one thread, holds at a time.
///
/// Open-file-description locks (fcntl(2), F_OFD_SETLK): they go away with their holder, however
/// that dies, and two descriptors of one process exclude each other.
package struct FileLock: ~Copyable {
  /// The byte that the holder locks.
  private static var holder: Int { 0 }
  /// The byte that is locked while waiting for the other.
  ///
  /// Waiting is trying again and again, so that one who writes all the time would take the lock back
  /// before anybody else noticed that it was free: measured, a second process waited for seconds.
  private static var turnstile: Int { 1 }

  private let locks: LockFile

  /// Takes the lock, waiting no longer than `deadline`.
  ///
  /// The file at `path` is made if need be and never removed by us. When somebody else removes it,
  /// who waits for it takes the new one; who holds it then excludes nobody any more.
  ///
  /// - Throws: `StorageError`: `busy` when the deadline passed, `cancelled`, or what opening the file
  ///   said.
  package init(
    _ path: String, waiting deadline: Duration, _ cancellation: Cancellation? = nil
  ) throws(StorageError) {
    let locks = try LockFile.locking(
      [Self.turnstile, Self.holder], of: path, waiting: deadline, cancellation)
    try locks.file.unlock(byte: Self.turnstile)
    self.locks = locks
  }
}

/// An open lock file whose locks are given back when it goes out of scope.
///
/// Closing is not enough: the locks are the open file description's, of which a child of fork(2)
/// has a copy that would keep them for as long as the child lives.
package struct LockFile: ~Copyable {
  package let file: OpenFile
  private let process = getpid()

  /// Opens the file at `path`, which is made if need be.
  package init(_ path: String) throws(StorageError) {
    file = try OpenFile(lockFile: path)
  }

  /// Opens the file at `path` and locks bytes of it, in their order, for this open file alone.
  ///
  /// - Throws: `StorageError`: `busy` when the deadline passed, or what opening the file said.
  package static func locking(
    _ bytes: [Int], of path: String, waiting deadline: Duration, _ cancellation: Cancellation? = nil
  ) throws(StorageError) -> LockFile {
    let end = ContinuousClock.now + deadline
    repeat {
      let locks = try LockFile(path)
      var isLocked = true
      for byte in bytes where isLocked {
        isLocked = try locks.file.lock(byte: byte, until: end, cancellation)
      }
      guard isLocked else { break }
      if try locks.isInPlace() { return locks }
    } while ContinuousClock.now < end
    throw StorageError(.busy, "another process held the lock for too long; try again", path: path)
  }

  /// Whether the path still leads to this file: on one that was removed, locks exclude nobody.
  package func isInPlace() throws(StorageError) -> Bool { try file.isInPlace() }

  // In the child, the locks are still its parent's.
  deinit { if getpid() == process { file.unlockAll() } }
}

/// Locks of single bytes, which need not be in the file. They belong to the open file.
extension OpenFile {
  // F_OFD_SETLK and F_OFD_GETLK, which the headers show only to GNU sources.
  private static var setLock: Int32 { 37 }
  private static var getLock: Int32 { 36 }

  /// Opens a lock file, which is made if need be and never holds anything.
  package init(lockFile path: String) throws(StorageError) {
    let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK
    guard let file = try OpenFile(path, flags, permissions: 0o600) else {
      throw StorageError(.io, "the lock file vanished", path: path)
    }
    self = file
  }

  /// Whether the path that it was opened by still leads to this file.
  package func isInPlace() throws(StorageError) -> Bool {
    guard let found = try FileStatus.ofEntry(path) else { return false }
    let held = try status()
    return (found.device, found.inode) == (held.device, held.inode)
  }

  /// Locks a byte for this open file alone.
  ///
  /// - Returns: false when others held it until `end`.
  /// - Throws: `cancelled` when `cancellation` was, or what fcntl(2) said.
  package func lock(
    byte: Int, until end: ContinuousClock.Instant, _ cancellation: Cancellation? = nil
  ) throws(StorageError) -> Bool {
    var pause = useconds_t(50)
    while try !tryLock(byte: byte, F_WRLCK) {
      guard ContinuousClock.now < end else { return false }
      if cancellation?.isCancelled == true {
        throw StorageError(.cancelled, "the program stopped waiting for the lock", path: path)
      }
      usleep(pause)  // there is no lock call with a deadline; the pause grows to 2 ms
      pause = min(pause * 2, 2_000)
    }
    return true
  }

  /// Takes a share of a byte, unless another open file has all of it.
  package func tryShare(byte: Int) throws(StorageError) -> Bool {
    try tryLock(byte: byte, F_RDLCK)
  }

  /// Whether another open file has all of a byte.
  package func isLocked(byte: Int) -> Bool {
    var request = Self.request(byte, F_RDLCK)
    // What can't be known is found out when the lock is taken.
    guard unsafe fcntl(descriptor, Self.getLock, &request) == 0 else { return false }
    return request.l_type != Int16(F_UNLCK)
  }

  /// Whether another open file has a share of a byte, or all of it.
  package func isShared(byte: Int) -> Bool {
    var request = Self.request(byte, F_WRLCK)
    guard unsafe fcntl(descriptor, Self.getLock, &request) == 0 else { return false }
    return request.l_type != Int16(F_UNLCK)
  }

  /// Gives back a byte, or a share of it.
  package func unlock(byte: Int) throws(StorageError) {
    _ = try tryLock(byte: byte, F_UNLCK)
  }

  /// Gives back every byte.
  fileprivate func unlockAll() {
    var request = Self.request(0, F_UNLCK)
    request.l_len = 0  // to the end
    // It can't fail in a way that could be mended, and the file is closed next.
    _ = unsafe fcntl(descriptor, Self.setLock, &request)
  }

  private func tryLock(byte: Int, _ kind: Int32) throws(StorageError) -> Bool {
    var request = Self.request(byte, kind)
    guard unsafe fcntl(descriptor, Self.setLock, &request) != 0 else { return true }
    guard errno == EAGAIN || errno == EACCES || errno == EINTR else {
      throw StorageError(system: "lock", path: path)
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
