internal import CryptoCore
internal import Glibc
internal import StorageCore

/// Files that are made beside their place and put there when they are whole and durable.
enum VaultCopy {
  /// Makes a vault's file by `body` and puts it at `file`'s path.
  ///
  /// - Parameters:
  ///   - replacing: whether a file that is there is replaced; else it is the error `invalid`.
  ///   - end: how long those are waited for that have the file open which is replaced.
  ///   - body: is given a connection to an empty file. What it writes is durable when it returns.
  /// - Throws: `StorageError`; there is then what was there before, except with `outcomeUnknown`.
  static func make(
    _ file: VaultFile, replacing: Bool, until end: ContinuousClock.Instant,
    _ body: (Connection) throws(StorageError) -> Void
  ) throws(StorageError) {
    try Folder.create(file.folder)
    _ = try file.check(mending: false, allowingEmpty: true)
    let isFree = try FileStatus.ofEntry(file.path) == nil
    guard replacing || isFree else { throw taken(file.path) }
    let sibling = "\(file.path).\(getpid()).\(UInt32.random(in: 0 ... .max)).new"
    defer { for suffix in ["", "-journal", "-wal", "-shm"] { unsafe unlink(sibling + suffix) } }
    try createEmpty(sibling)
    try write(sibling, body)
    try OpenFile.synchronize(sibling)
    if !isFree {
      try endLog(of: file, until: end)
      try removeLog(of: file)
    }
    if replacing {
      guard unsafe rename(sibling, file.path) == 0 else {
        throw StorageError(system: "put the new file in its place", path: file.path)
      }
    } else if unsafe link(sibling, file.path) != 0 {
      if errno == EEXIST { throw taken(file.path) }
      throw StorageError(system: "put the new file in its place", path: file.path)
    }
    do throws(StorageError) {
      try Folder.synchronize(file.folder)
    } catch {
      throw StorageError(.outcomeUnknown, error.message, path: file.path, number: error.number)
    }
  }

  /// Takes the log of a file that is to be replaced into it, which only one who is alone with it can.
  ///
  /// - Throws: `busy` when another process has the file open.
  static func endLog(
    of file: VaultFile, until end: ContinuousClock.Instant
  ) throws(StorageError) {
    do throws(StorageError) {
      let connection = try Connection(file.path, .readWrite, until: end)
      try connection.endLog()
    } catch {
      // A file that SQLite can't make sense of is nobody's, and keeps its log.
      guard error.code == .damaged else { throw error }
    }
  }

  /// Removes what lies beside a file that is to be replaced, and would be taken for the new one's.
  private static func removeLog(of file: VaultFile) throws(StorageError) {
    for path in [file.logPath, file.indexPath] where unsafe unlink(path) != 0 {
      if errno != ENOENT { throw StorageError(system: "remove the old log", path: path) }
    }
  }

  private static func write(
    _ path: String, _ body: (Connection) throws(StorageError) -> Void
  ) throws(StorageError) {
    // Nobody else knows of it.
    let connection = try Connection(path, .readWrite, until: .now)
    try body(connection)
    // One file that stands alone: no log beside it.
    try connection.endLog()
  }

  private static func createEmpty(_ path: String) throws(StorageError) {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
    guard try OpenFile(path, flags, permissions: 0o600) != nil else {
      throw StorageError(.io, "the new file vanished", path: path)
    }
  }

  private static func taken(_ path: String) -> StorageError {
    StorageError(
      .invalid, "there is a file already; name another, or say that it is to be replaced",
      path: path)
  }
}

extension OpenFile {
  /// Makes a file durable that nothing has open any more.
  fileprivate static func synchronize(_ path: String) throws(StorageError) {
    guard let file = try OpenFile(path, O_RDONLY | O_NOFOLLOW) else {
      throw StorageError(.io, "the new file vanished", path: path)
    }
    try file.synchronize()
  }
}
