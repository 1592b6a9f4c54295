internal import Glibc

/// Replaces and makes whole files atomically.
package enum DurableFile {
  /// Replaces `path` by a file of `bytes`, which only the owner can read.
  ///
  /// Writes a sibling file and makes it durable, renames it over `path`, then makes the folder durable. So
  /// a reader sees the old file or the new one, also after a crash at any point. The caller must hold a lock
  /// that excludes other writers of `path`.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - bytes: the new content.
  ///   - span: for how many nanoseconds at least the new file has been in place when this returns.
  /// - Returns: the new file, open for reading.
  /// - Throws: `StorageError`. The old file is unchanged, except after `outcomeUnknown`.
  @discardableResult
  package static func replace(
    _ path: String, with bytes: RawSpan, settling span: Int64 = 0
  ) throws(StorageError) -> OpenFile {
    let sibling = path + ".new"
    // A sibling that a dead writer left is not needed: that write was never acknowledged.
    unlink(sibling)
    let file = try create(sibling, for: path)
    do throws(StorageError) {
      try file.write(bytes)
      try file.synchronize()
      guard unsafe rename(sibling, path) == 0 else {
        throw StorageError(system: "replace the old file by the new one", path: path)
      }
    } catch {
      unlink(sibling)
      // The rename did not happen, so nothing was changed, whatever happened to the sibling.
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

  /// Makes a file of `bytes` at `path`, which only the owner can read, unless the path exists.
  ///
  /// The file gets its name only when it is complete and durable. So a writer that dies leaves nothing
  /// behind: no second name of the file and no unknown bytes. If the file system does not support this, the
  /// file has the name of a sibling for a while; ``LeftOvers`` removes siblings.
  ///
  /// - Returns: whether the file was made; false when another process made it first.
  /// - Throws: `StorageError`; no new file exists then, unless the folder could not be synchronised.
  package static func createIfAbsent(
    _ path: String, with bytes: RawSpan
  ) throws(StorageError) -> Bool {
    var isMade = try linkNameless(bytes, as: path)
    if isMade == nil { isMade = try linkSibling(bytes, as: path) }
    guard isMade == true else { return false }
    try Folder.synchronize(FilePath.folder(of: path))
    return true
  }

  /// Makes the file without a name, then links it to `path`.
  ///
  /// - Returns: whether the file was made; nil where files without a name can't be made or linked.
  private static func linkNameless(
    _ bytes: RawSpan, as path: String
  ) throws(StorageError) -> Bool? {
    guard let held = try nameless(bytes, for: path) else { return nil }
    // linkat(2): through /proc, since AT_EMPTY_PATH needs a capability.
    let source = "/proc/self/fd/\(held.descriptor)"
    if unsafe linkat(AT_FDCWD, source, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 { return true }
    switch errno {
    case EEXIST: return false
    case ENOENT, EXDEV, EACCES, EPERM, EINVAL: return nil  // /proc is missing, or refuses
    default: throw StorageError(system: "create", path: path)
    }
  }

  /// Makes a durable file of `bytes` without a name in the folder of `path`.
  ///
  /// - Returns: an O_PATH descriptor, which keeps the file without opening it. Closing an opened file would
  ///   release all locks of the process on it (fcntl(2)), and another thread may lock the file as soon as it
  ///   has a name. Nil where files without a name can't be made.
  private static func nameless(
    _ bytes: RawSpan, for path: String
  ) throws(StorageError) -> OpenFile? {
    // From open(2), and missing in Glibc's module: __O_TMPFILE with O_DIRECTORY, and O_PATH.
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

  /// Opens a file; nil if that fails.
  ///
  /// The caller then tries a sibling, whose error tells the reason.
  private static func openIfPossible(_ path: String, _ flags: Int32) -> OpenFile? {
    do throws(StorageError) { return try OpenFile(path, flags) } catch { return nil }
  }

  /// Makes the file as a sibling with a name, then links it to `path`.
  private static func linkSibling(
    _ bytes: RawSpan, as path: String
  ) throws(StorageError) -> Bool {
    let sibling = LeftOvers.sibling(of: path)
    defer { unlink(sibling) }
    do throws(StorageError) {
      // Closed before it is linked, because closing later would release locks on the file.
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
    throw StorageError(
      .io, "the new file disappeared while it was being made; try again", path: path)
  }

  private static func unlink(_ path: String) {
    // A failure is ignored: nothing reads this file, and O_EXCL detects a file that is still there.
    _ = unsafe Glibc.unlink(path)
  }
}
