internal import Glibc
internal import StorageCore

/// The lock file of a shared key.
///
/// A writer shares the lock from sealing to writing. A rotation holds it alone while it replaces
/// the key. So no value is written under the old key after the replacement. The kernel releases the
/// locks of a process that dies.
struct KeyLock: Sendable {
  /// The lock file in a group's folder.
  static let groupFile = ".group.lock"

  /// The bytes of the file that are locked.
  private enum Byte {
    /// Writers share it; the replacement of the key holds it alone.
    static let key = 0
    /// The replacement holds it while it waits, so that writers let it pass.
    static let turnstile = 1
    /// A rotation holds it from beginning to end.
    static let rotation = 2
  }
  private static let deadline: Duration = .seconds(60)

  private let folder: SharedFolder
  private let path: String

  /// The lock of the master key, in the application's data folder.
  init(folder path: String) { self.init(SharedFolder(path: path), "localdata.lock") }

  /// The lock of a group's key.
  init(ofGroup folder: SharedFolder) { self.init(folder, Self.groupFile) }

  private init(_ folder: SharedFolder, _ name: String) {
    self.folder = folder
    path = folder.path + "/" + name
  }

  /// Runs `body` while the key can't be replaced.
  ///
  /// - Throws: an error of `body`, or `busy` if the key was being replaced for 60 s.
  func sharing<Result>(
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    try makeFolder()
    let end = ContinuousClock.now + Self.deadline
    repeat {
      let locks = try LockFile(path)
      // Whoever replaces the key would wait forever if writers kept coming.
      if !locks.file.isLocked(byte: Byte.turnstile), try locks.file.tryShare(byte: Byte.key),
        try locks.isInPlace()
      {
        let result = try body()
        _ = consume locks
        return result
      }
      usleep(500)  // a lock of a shared byte can be tried, and nothing signals when it is free
    } while ContinuousClock.now < end
    throw busy("another process is replacing the key that seals the value; try again")
  }

  /// Runs `body` while nobody writes under the key.
  func excluding<Result>(
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    try holding(
      [Byte.turnstile, Byte.key], within: Self.deadline,
      "another process kept writing for too long; try again", body)
  }

  /// Runs `body`, the only rotation of the key.
  func rotating<Result>(
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    try holding(
      [Byte.rotation], within: .seconds(5),
      "another process is rotating the keys; wait for it, or end it and rotate again", body)
  }

  /// Changes when the key is replaced.
  ///
  /// Reading it costs a look at the file instead of the ledger.
  ///
  /// Only the kernel sets the time of a file's last change.
  struct Generation: Equatable {
    private let file: FileStatus.Identity
    private let changed: Int64

    fileprivate init(_ status: FileStatus) { (file, changed) = (status.identity, status.changed) }
  }

  /// The present generation; nil before anything was sealed.
  func generation() throws(StorageError) -> Generation? {
    try FileStatus.ofEntry(path).map { Generation($0) }
  }

  /// Begins a generation, so that readers ask the ledger again.
  func renew() throws(StorageError) {
    guard unsafe utimensat(AT_FDCWD, path, nil, AT_SYMLINK_NOFOLLOW) == 0 else {
      throw StorageError(system: "touch the lock file", path: path)
    }
  }

  private func holding<Result>(
    _ bytes: [Int], within deadline: Duration, _ message: String,
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    try makeFolder()
    let locks: LockFile
    do throws(StorageError) {
      locks = try LockFile.locking(bytes, of: path, waiting: deadline)
    } catch {
      throw error.code == .busy ? busy(message) : error
    }
    let result = try body()
    _ = consume locks
    return result
  }

  private func makeFolder() throws(StorageError) {
    if try FileStatus.ofEntry(path) == nil { try folder.made() }
  }

  private func busy(_ message: String) -> StorageError {
    StorageError(.busy, message, path: path)
  }
}

/// Without a lock, as of a store in memory, nobody else uses the key.
extension KeyLock? {
  func sharing<Result>(
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    if let self { try self.sharing(body) } else { try body() }
  }

  func excluding(_ body: () throws(StorageError) -> Void) throws(StorageError) {
    if let self { try self.excluding(body) } else { try body() }
  }

  func rotating(_ body: () throws(StorageError) -> Void) throws(StorageError) {
    if let self { try self.rotating(body) } else { try body() }
  }
}

extension Places {
  /// The lock of the master key; nil for stores in memory.
  func keyLock() throws(StorageError) -> KeyLock? {
    isInMemory ? nil : KeyLock(folder: try locations.data())
  }
}
