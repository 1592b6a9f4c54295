internal import Glibc

/// Files that are replaced or made whole or not at all.
package enum DurableFile {
  /// Replaces `path` by a file of `bytes`, readable by the owner alone.
  ///
  /// A sibling is written and made durable, then renamed over `path`, then the folder is made
  /// durable: whoever reads, and whatever dies on any line, sees the old file or the new one.
  /// The caller holds a lock that keeps other writers of `path` away.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - bytes: what it is to hold.
  ///   - span: how many nanoseconds the new file has been in its place at least when this returns.
  /// - Returns: the new file, open for reading.
  /// - Throws: `StorageError`. The old file is still there, except with `outcomeUnknown`.
  @discardableResult
  package static func replace(
    _ path: String, with bytes: RawSpan, settling span: Int64 = 0
  ) throws(StorageError) -> OpenFile {
    let sibling = path + ".new"
    // A sibling that a dead writer left is nobody's: its content was never acknowledged.
    unlink(sibling)
    let file = try create(sibling, for: path)
    do throws(StorageError) {
      try file.write(bytes)
      try file.synchronize()
      guard unsafe rename(sibling, path) == 0 else {
        throw StorageError(system: "put the new file in its place", path: path)
      }
    } catch {
      unlink(sibling)
      // The rename did not happen, so nothing was changed, whatever became of the sibling.
      guard error.code == .outcomeUnknown else { throw error.of(path, madeAs: sibling) }
      throw StorageError(.io, error.message, path: path, number: error.number)
    }
    let start = MonotonicTime.now
    do throws(StorageError) {
      try Folder.synchronize(FilePath.folder(of: path))
    } catch {
      throw StorageError(.outcomeUnknown, error.message, path: path, number: error.number)
    }
    start.waitUntilPassed(span)
    return file
  }

  /// Makes `path` with `bytes`, readable by the owner alone, unless it exists.
  ///
  /// The file has no name before it is whole and durable, so that a writer that dies leaves none: neither
  /// a second name of the file, nor bytes that nobody knows of. Where the file system can't do that, it
  /// has the name of a sibling for a while; ``LeftOvers`` removes those.
  ///
  /// - Returns: whether it was made; false when somebody else made it first.
  /// - Throws: `StorageError`; there is then no file that was not there before, unless the folder
  ///   could not be synchronised.
  package static func createIfAbsent(
    _ path: String, with bytes: RawSpan
  ) throws(StorageError) -> Bool {
    var isMade = try linkNameless(bytes, as: path)
    if isMade == nil { isMade = try linkSibling(bytes, as: path) }
    guard isMade == true else { return false }
    try Folder.synchronize(FilePath.folder(of: path))
    return true
  }

  /// Makes the file without a name, and gives it its own.
  ///
  /// - Returns: whether it was made; nil where files without a name can't be made, or not be named.
  private static func linkNameless(
    _ bytes: RawSpan, as path: String
  ) throws(StorageError) -> Bool? {
    guard let held = try nameless(bytes, for: path) else { return nil }
    // linkat(2): by way of /proc, since AT_EMPTY_PATH takes a capability.
    let source = "/proc/self/fd/\(held.descriptor)"
    if unsafe linkat(AT_FDCWD, source, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 { return true }
    switch errno {
    case EEXIST: return false
    case ENOENT, EXDEV, EACCES, EPERM, EINVAL: return nil  // no /proc here, or one that refuses
    default: throw StorageError(system: "create", path: path)
    }
  }

  /// A file of `bytes` in the folder of `path`, durable and without a name.
  ///
  /// - Returns: what holds it, and has nothing of the file open: whoever closes a file loses all locks
  ///   of the process on it (fcntl(2)), and others may take some as soon as the file has a name.
  private static func nameless(
    _ bytes: RawSpan, for path: String
  ) throws(StorageError) -> OpenFile? {
    // Of open(2), and not in Glibc's module: __O_TMPFILE with O_DIRECTORY, and O_PATH.
    let (temporary, place) = (Int32(0o20000000) | O_DIRECTORY, Int32(0o10000000))
    guard let file = openIfPossible(FilePath.folder(of: path), temporary | O_RDWR) else {
      return nil
    }
    do throws(StorageError) {
      try file.write(bytes)
      try file.synchronize()
    } catch {
      throw StorageError(error.code, error.message, path: path, number: error.number)
    }
    return openIfPossible("/proc/self/fd/\(file.descriptor)", place)
  }

  /// Nil for what can't be opened: a sibling is tried then, and its error says why.
  private static func openIfPossible(_ path: String, _ flags: Int32) -> OpenFile? {
    do throws(StorageError) { return try OpenFile(path, flags) } catch { return nil }
  }

  /// The same with a sibling that has a name.
  private static func linkSibling(
    _ bytes: RawSpan, as path: String
  ) throws(StorageError) -> Bool {
    let sibling = LeftOvers.sibling(of: path)
    defer { unlink(sibling) }
    do throws(StorageError) {
      // Closed before it is linked, for the locks.
      let file = try create(sibling, for: path)
      try file.write(bytes)
      try file.synchronize()
    } catch {
      throw error.of(path, madeAs: sibling)
    }
    // link(2) fails when the name is taken, so an existing file is never replaced.
    if unsafe link(sibling, path) == 0 { return true }
    if errno == EEXIST { return false }
    throw StorageError(system: "create", path: path)
  }

  private static func create(
    _ sibling: String, for path: String
  ) throws(StorageError) -> OpenFile {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
    do throws(StorageError) {
      if let file = try OpenFile(sibling, flags, permissions: 0o600) { return file }
    } catch {
      throw error.of(path, madeAs: sibling)
    }
    throw StorageError(.io, "the new file vanished", path: path)
  }

  private static func unlink(_ path: String) {
    // Best effort on a file of ours that nobody reads; what matters is checked by O_EXCL.
    _ = unsafe Glibc.unlink(path)
  }
}
