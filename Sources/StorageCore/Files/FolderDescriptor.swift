internal import CryptoCore
internal import Glibc

/// An open folder, and the calls for names in it.
///
/// A call with a path looks up every folder on the way again. Anyone who may write to one of these
/// folders can replace a folder by a link between a check and the use. The calls here look up one
/// name in the folder
/// that was opened and checked, and they follow no link.
package final class FolderDescriptor: Sendable {
  /// The descriptor; this object owns it and closes it.
  ///
  /// It is an O_PATH descriptor (open(2)), so a folder that can't be listed can be opened too.
  package let descriptor: Int32
  /// The path with which the folder was opened, for errors.
  package let path: String
  /// Whether the folder is below one that nobody but this user and root can enter.
  private let isEnclosed: Bool
  /// Whether nobody but this user and root can reach what is in the folder.
  private let keepsOthersOut: Bool
  private let device: UInt64?

  // O_PATH of open(2), which is missing in Glibc's module.
  static var place: Int32 { 0o10000000 }

  /// Takes over a descriptor.
  ///
  /// - Parameters:
  ///   - descriptor: an O_PATH descriptor of the folder.
  ///   - path: the path of the folder.
  ///   - parent: the folder around it; nil when it was reached in another way.
  init(_ descriptor: Int32, path: String, in parent: FolderDescriptor?) {
    self.descriptor = descriptor
    self.path = path
    var status: FileStatus?
    do throws(StorageError) {
      status = try .of(descriptor: descriptor, path: path)
    } catch {
      status = nil  // then it does not keep anybody out
    }
    device = status?.device
    // Another file system may also be mounted where others can enter it.
    isEnclosed = parent?.keepsOthersOut == true && device != nil && device == parent?.device
    keepsOthersOut = isEnclosed || status.map { FolderTrust.encloses($0, at: path) } ?? false
  }

  /// The same folder with another path, which may lead through links.
  func named(_ path: String) throws(StorageError) -> FolderDescriptor {
    guard path != self.path else { return self }
    // F_DUPFD_CLOEXEC of fcntl(2), which is missing in Glibc's module.
    let copy = fcntl(descriptor, 1030, 0)
    guard copy >= 0 else { throw StorageError(system: "open the folder", path: path) }
    return FolderDescriptor(copy, path: path, like: self)
  }

  private init(_ descriptor: Int32, path: String, like other: FolderDescriptor) {
    self.descriptor = descriptor
    self.path = path
    (isEnclosed, keepsOthersOut) = (other.isEnclosed, other.keepsOthersOut)
    device = other.device
  }

  deinit { close(descriptor) }

  /// The path of an entry, for errors and for libraries that open files by path.
  package func path(of name: String) -> String { path == "/" ? "/" + name : path + "/" + name }

  /// The folder's own status.
  package func status() throws(StorageError) -> FileStatus {
    var status = try FileStatus.of(descriptor: descriptor, path: path)
    status.isEnclosed = isEnclosed
    return status
  }

  /// The status of an entry, without following a link; nil when there is none.
  package func status(of name: String) throws(StorageError) -> FileStatus? {
    try .ofEntry(name, in: self)
  }

  /// Whether there is an entry of this name.
  package func contains(_ name: String) throws(StorageError) -> Bool {
    try status(of: name) != nil
  }

  /// Opens a folder in this one; nil when there is no entry of this name.
  ///
  /// - Throws: `denied` for a link, which could lead anywhere, and for anything else that is not a
  ///   folder.
  package func child(_ name: String) throws(StorageError) -> FolderDescriptor? {
    let found = unsafe openat(
      descriptor, name, Self.place | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
    guard found < 0 else { return FolderDescriptor(found, path: path(of: name), in: self) }
    if errno == ENOENT { return nil }
    guard errno == ENOTDIR || errno == ELOOP else {
      throw StorageError(system: "open the folder", path: path(of: name))
    }
    let isLink = try status(of: name)?.isLink == true
    throw StorageError(
      .denied, "it is \(isLink ? "a link, " : "")not a folder; move it away", path: path(of: name))
  }

  /// Makes a folder in this one that only its owner can use (0700).
  ///
  /// - Returns: false when there is an entry of this name already.
  package func makeFolder(_ name: String) throws(StorageError) -> Bool {
    if Folder.isPrivileged {
      if try contains(name) { return false }
      try Folder.requireMaking(in: try status(), path)
    }
    if unsafe mkdirat(descriptor, name, 0o700) == 0 { return true }
    if errno == EEXIST { return false }
    throw StorageError(system: "create the folder", path: path(of: name))
  }

  /// Removes a file; does not follow a link.
  ///
  /// - Returns: false when there was no entry of this name.
  @discardableResult
  package func remove(_ name: String) throws(StorageError) -> Bool {
    if unsafe unlinkat(descriptor, name, 0) == 0 { return true }
    if errno == ENOENT { return false }
    throw StorageError(system: "remove the file", path: path(of: name))
  }

  /// Removes a file that nothing needs; a failure is ignored.
  package func discard(_ name: String) { _ = unsafe unlinkat(descriptor, name, 0) }

  /// Renames an entry, and replaces another file of the new name in one step.
  package func rename(
    _ name: String, to newName: String, _ action: String = "rename the new file into place"
  ) throws(StorageError) {
    guard unsafe renameat(descriptor, name, descriptor, newName) == 0 else {
      throw StorageError(system: action, path: path(of: newName))
    }
  }

  /// Gives a file a second name, unless that name is taken.
  ///
  /// - Returns: false when the name is taken.
  package func link(
    _ name: String, as newName: String, _ action: String = "create"
  ) throws(StorageError) -> Bool {
    if unsafe linkat(descriptor, name, descriptor, newName, 0) == 0 { return true }
    if errno == EEXIST { return false }
    throw StorageError(system: action, path: path(of: newName))
  }

  /// Removes other users' permissions for a file (0600), without following a link.
  ///
  /// The file is not opened for that: closing a descriptor gives back the process's locks on it
  /// (fcntl(2)).
  ///
  /// - Returns: false when that failed; errno says why.
  package func setPrivate(_ name: String) -> Bool {
    if unsafe fchmodat(descriptor, name, 0o600, AT_SYMLINK_NOFOLLOW) == 0 { return true }
    // Before Linux 6.6, Glibc needs /proc for that. A link that is exchanged in between can then
    // lead to another file of this user, and others lose their permissions for that file.
    guard errno == EOPNOTSUPP || errno == ENOSYS else { return false }
    return unsafe fchmodat(descriptor, name, 0o600, 0) == 0
  }

  /// Makes the entries durable; only then does a new or renamed file survive a power cut.
  package func synchronize() throws(StorageError) {
    let opened = unsafe openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    guard opened >= 0 else {
      throw StorageError(system: "open the folder", path: path, isOpening: true)
    }
    try OpenFile(owning: opened, path: path).synchronize()
  }

  /// The names of all entries, in any order, without those that are not UTF-8: none of ours is.
  package func names() throws(StorageError) -> [String] {
    let opened = unsafe openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    // fdopendir(3) takes the descriptor over.
    guard opened >= 0, let stream = unsafe fdopendir(opened) else {
      let error = StorageError(system: "list the folder", path: path)
      if opened >= 0 { close(opened) }
      throw error
    }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while true {
      // readdir(3): nil at the end and at an error, which sets errno.
      errno = 0
      guard let entry = unsafe readdir(stream) else {
        guard errno == 0 else { throw StorageError(system: "list the folder", path: path) }
        return names
      }
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe SystemText.exact(bytes.prefix { $0 != 0 })
      }
      if let name, name != ".", name != ".." { names.append(name) }
    }
  }
}
