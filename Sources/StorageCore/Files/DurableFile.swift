internal import Glibc

/// Replaces and makes whole files atomically.
package enum DurableFile {
  /// Replaces the file at `path`, as ``replace(_:in:with:sibling:settling:isSynchronized:)``.
  @discardableResult
  package static func replace(
    _ path: String, with bytes: RawSpan, settling span: Int64 = 0, isSynchronized: Bool = true
  ) throws(StorageError) -> OpenFile {
    let folder = try FolderDescriptor.existing(FilePath.folder(of: path))
    return try replace(
      FilePath.name(of: path), in: folder, with: bytes, settling: span,
      isSynchronized: isSynchronized)
  }

  /// Replaces a file in an open folder by a file of `bytes`.
  ///
  /// Writes a sibling file and makes it durable, renames it over the old one, then makes the folder
  /// durable. So a reader sees the old file or the new one, also after a crash at any point. The
  /// caller must hold a lock that excludes other writers of the file.
  ///
  /// - Parameters:
  ///   - name: the name of the file.
  ///   - folder: its folder.
  ///   - bytes: the new content.
  ///   - sibling: the name of the sibling; nil for `<name>.new`.
  ///   - span: how many nanoseconds the new file has at least been in place when this returns.
  ///   - isSynchronized: whether file and folder are made durable.
  /// - Returns: the new file, open for reading.
  /// - Throws: `StorageError`. The old file is unchanged, except after `outcomeUnknown`.
  @discardableResult
  package static func replace(
    _ name: String, in folder: FolderDescriptor, with bytes: RawSpan, sibling: String? = nil,
    settling span: Int64 = 0, isSynchronized: Bool = true
  ) throws(StorageError) -> OpenFile {
    let path = folder.path(of: name)
    let sibling = sibling ?? name + ".new"
    // A sibling that a dead writer left is not needed: that write was never acknowledged.
    folder.discard(sibling)
    let file = try create(sibling, for: path, in: folder)
    do throws(StorageError) {
      try file.write(bytes)
      if isSynchronized { try file.synchronize() }
      try folder.rename(sibling, to: name, "replace the old file by the new one")
    } catch {
      folder.discard(sibling)
      // The rename did not happen, so nothing was changed, whatever happened to the sibling.
      guard error.code == .outcomeUnknown else {
        throw error.of(path, madeAs: folder.path(of: sibling))
      }
      throw StorageError(.io, error.message, path: path, number: error.number)
    }
    let start = MonotonicTime.now
    do throws(StorageError) {
      if isSynchronized { try folder.synchronize() }
    } catch {
      throw StorageError(.outcomeUnknown, error.message, path: path, number: error.number)
    }
    start.waitUntilPassed(span)
    return file
  }

  /// Makes a file at `path`, as ``createIfAbsent(_:in:with:)``.
  package static func createIfAbsent(
    _ path: String, with bytes: RawSpan
  ) throws(StorageError) -> Bool {
    let folder = try FolderDescriptor.existing(FilePath.folder(of: path))
    return try createIfAbsent(FilePath.name(of: path), in: folder, with: bytes)
  }

  /// Makes a file of `bytes` in an open folder, which only the owner can read, unless the name is
  /// taken.
  ///
  /// The file gets its name only when it is complete and durable. So a writer that dies leaves
  /// nothing behind: no second name of the file and no unknown bytes. If the file system does not
  /// support this, the file has the name of a sibling for a while, `<name>.<process>.<number>.new`, which
  /// a killed writer leaves behind; only the owner can read it.
  ///
  /// - Returns: whether the file was made; false when another process made it first.
  /// - Throws: `StorageError`; no new file exists then, unless the folder could not be
  ///   synchronised.
  package static func createIfAbsent(
    _ name: String, in folder: FolderDescriptor, with bytes: RawSpan
  ) throws(StorageError) -> Bool {
    var isMade = try linkNameless(bytes, as: name, in: folder)
    if isMade == nil { isMade = try linkSibling(bytes, as: name, in: folder) }
    guard isMade == true else { return false }
    try folder.synchronize()
    return true
  }

  /// Makes the file without a name, then links it to `name`.
  ///
  /// - Returns: whether the file was made; nil where files without a name can't be made or linked.
  private static func linkNameless(
    _ bytes: RawSpan, as name: String, in folder: FolderDescriptor
  ) throws(StorageError) -> Bool? {
    let path = folder.path(of: name)
    guard let held = try nameless(bytes, for: path, in: folder) else { return nil }
    // linkat(2): through /proc, since AT_EMPTY_PATH needs a capability.
    let source = "/proc/self/fd/\(held.descriptor)"
    if unsafe linkat(AT_FDCWD, source, folder.descriptor, name, AT_SYMLINK_FOLLOW) == 0 {
      return true
    }
    switch errno {
    case EEXIST: return false
    case ENOENT, EXDEV, EACCES, EPERM, EINVAL: return nil  // /proc is missing, or refuses
    default: throw StorageError(system: "create", path: path)
    }
  }

  /// Makes a durable file of `bytes` without a name in the folder.
  ///
  /// - Returns: an O_PATH descriptor, which keeps the file without opening it. Closing an opened
  ///   file would release all locks of the process on it (fcntl(2)), and another thread may lock
  ///   the file as soon as it has a name. Nil where files without a name can't be made.
  private static func nameless(
    _ bytes: RawSpan, for path: String, in folder: FolderDescriptor
  ) throws(StorageError) -> OpenFile? {
    try Folder.requireMaking(path, at: folder.descriptor)
    // From open(2), and missing in Glibc's module: __O_TMPFILE with O_DIRECTORY.
    let temporary = Int32(0o20000000) | O_DIRECTORY
    // When this fails, the caller tries a sibling, whose error tells the reason.
    let opened = unsafe openat(folder.descriptor, ".", temporary | O_RDWR | O_CLOEXEC, 0o600)
    guard opened >= 0 else { return nil }
    let file = OpenFile(owning: opened, path: path)
    do throws(StorageError) {
      try file.write(bytes)
      try file.synchronize()
    } catch {
      throw StorageError(error.code, error.message, path: path, number: error.number)
    }
    let source = "/proc/self/fd/\(file.descriptor)"
    do throws(StorageError) { return try OpenFile(source, FolderDescriptor.place) } catch {
      return nil
    }
  }

  /// Makes the file as a sibling with a name, then links it to `name`.
  private static func linkSibling(
    _ bytes: RawSpan, as name: String, in folder: FolderDescriptor
  ) throws(StorageError) -> Bool {
    let path = folder.path(of: name)
    let sibling = "\(name).\(getpid()).\(UInt32.random(in: 0 ... .max)).new"
    defer { folder.discard(sibling) }
    do throws(StorageError) {
      // Closed before it is linked, because closing later would release locks on the file.
      let file = try create(sibling, for: path, in: folder)
      try file.write(bytes)
      try file.synchronize()
    } catch {
      throw error.of(path, madeAs: folder.path(of: sibling))
    }
    // link(2) fails when the name is taken, so an existing file is never replaced.
    return try folder.link(sibling, as: name)
  }

  private static func create(
    _ sibling: String, for path: String, in folder: FolderDescriptor
  ) throws(StorageError) -> OpenFile {
    do throws(StorageError) {
      let flags = O_RDWR | O_CREAT | O_EXCL
      if let file = try OpenFile(sibling, in: folder, flags, permissions: 0o600) { return file }
    } catch {
      throw error.of(path, madeAs: folder.path(of: sibling))
    }
    throw StorageError(
      .io, "the new file disappeared while it was being made; try again", path: path)
  }
}
