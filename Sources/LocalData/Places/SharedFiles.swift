internal import CryptoCore
internal import Glibc
internal import StorageCore

/// The files of a folder that was opened and checked.
struct SharedFiles {
  /// The largest file in bytes that is read: a value must fit into memory.
  static let sizeLimit = 1 << 28

  let folder: FolderDescriptor
  /// The group that shares the folder, if an administrator created it for one.
  let group: UInt32?

  /// The mode of files.
  var mode: mode_t { group == nil ? 0o600 : 0o660 }

  /// The bytes of a file, or nil if it does not exist.
  func read(_ name: String) throws(StorageError) -> [UInt8]? {
    try open(name)?.readAll(limit: Self.sizeLimit)
  }

  /// The first bytes of a file, or nil if it does not exist.
  func readFirst(_ count: Int, of name: String) throws(StorageError) -> [UInt8]? {
    try open(name)?.readFirst(count)
  }

  /// Opens a file for reading, and refuses one that another user could have put there.
  private func open(_ name: String) throws(StorageError) -> OpenFile? {
    // A pipe or a link in the place of the file is refused, without waiting for it or following it.
    guard let file = try OpenFile(name, in: folder, O_RDONLY | O_NONBLOCK) else { return nil }
    let status = try file.status()
    guard status.isRegular else {
      throw StorageError(.denied, "it is not a regular file; move it away", path: file.path)
    }
    guard let group else {
      guard status.owner == geteuid() || status.owner == 0 else {
        throw StorageError(
          .denied, "it belongs to another user: \(StorageError.ownerAdvice)", path: file.path)
      }
      return file
    }
    // A member of the group can move or link a private file of this user to this name.
    guard status.group == group, status.permissions & 0o060 == 0o060 else {
      throw StorageError(
        .denied,
        "the file is not shared with the folder's group; give it the folder's group and the mode 660",
        path: file.path)
    }
    return file
  }
}

/// A folder whose lock is held.
struct LockedFolder: ~Copyable {
  fileprivate let files: SharedFiles
  /// The name of the new file, which is then renamed.
  private let sibling: String

  init(files: SharedFiles, sibling: String) {
    self.files = files
    self.sibling = sibling
  }

  /// The bytes of a file, or nil if it does not exist.
  func read(_ name: String) throws(StorageError) -> [UInt8]? { try files.read(name) }

  /// Whether anything of that name exists.
  func contains(_ name: String) throws(StorageError) -> Bool { try files.folder.contains(name) }

  /// Replaces a file durably, completely or not at all.
  func write(_ bytes: [UInt8], to name: String) throws(StorageError) {
    try unsafe DurableFile.replace(
      name, in: files.folder, with: bytes.span.bytes, sibling: sibling, permissions: files.mode)
  }

  /// Removes a file, if it exists.
  func remove(_ name: String) throws(StorageError) {
    guard try files.folder.remove(name) else { return }
    do throws(StorageError) {
      try files.folder.synchronize()
    } catch {
      throw StorageError(
        .outcomeUnknown, error.message, path: files.folder.path(of: name), number: error.number)
    }
  }
}
