internal import Glibc

/// Files that are replaced or made whole or not at all.
package enum DurableFile {
  /// Replaces `path` by a file of `bytes`, readable by the owner alone.
  ///
  /// A sibling is written and made durable, then renamed over `path`, then the folder is made
  /// durable: whoever reads, and whatever dies on any line, sees the old file or the new one.
  /// The caller holds a lock that keeps other writers of `path` away.
  ///
  /// - Returns: the new file, open for reading.
  /// - Throws: `StorageError`. The old file is still there, except with `outcomeUnknown`.
  @discardableResult
  package static func replace(_ path: String, with bytes: RawSpan) throws(StorageError) -> OpenFile
  {
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
    do throws(StorageError) {
      try Folder.synchronize(FilePath.folder(of: path))
    } catch {
      throw StorageError(.outcomeUnknown, error.message, path: path, number: error.number)
    }
    return file
  }

  /// Makes `path` with `bytes`, readable by the owner alone, unless it exists.
  ///
  /// - Returns: whether it was made; false when somebody else made it first.
  /// - Throws: `StorageError`; there is then no file that was not there before, unless the folder
  ///   could not be synchronised.
  package static func createIfAbsent(
    _ path: String, with bytes: RawSpan
  ) throws(StorageError) -> Bool {
    let sibling = "\(path).\(getpid()).\(UInt32.random(in: 0 ... .max)).new"
    defer { unlink(sibling) }
    do throws(StorageError) {
      // Closed before it is linked: whoever closes a file loses all locks of the process on it
      // (fcntl(2)), and others may have taken some as soon as it is there.
      let file = try create(sibling, for: path)
      try file.write(bytes)
      try file.synchronize()
    } catch {
      throw error.of(path, madeAs: sibling)
    }
    // link(2) fails when the name is taken, so an existing file is never replaced.
    if unsafe link(sibling, path) != 0 {
      if errno == EEXIST { return false }
      throw StorageError(system: "create", path: path)
    }
    try Folder.synchronize(FilePath.folder(of: path))
    return true
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
