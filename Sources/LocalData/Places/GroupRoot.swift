internal import Glibc
internal import StorageCore

/// The folder that an administrator created for a group, opened and checked, and the rule for
/// folders in it.
///
/// The group's members can rename everything below it, also a private folder that a user has there.
/// So a folder below it is used only if the whole group may use it anyway.
struct GroupRoot {
  let folder: FolderDescriptor
  /// The group's id.
  let id: UInt32

  /// Opens the folder.
  ///
  /// - Parameters:
  ///   - path: its path.
  ///   - rights: what this process must be allowed to do with it; see access(2).
  /// - Throws: `unavailable` if it does not exist, `denied` if others than the group can use it.
  init(_ path: String, _ rights: Int32) throws(StorageError) {
    guard let folder = try FolderDescriptor.open(path) else {
      throw StorageError(
        .unavailable,
        "the group's folder does not exist; an administrator must create it, mode 2770", path: path
      )
    }
    let status = try folder.status()
    guard Self.isShared(status) else {
      throw StorageError(
        .denied,
        "the group's folder must have the mode 2770: the group may read and write, others may not, and "
          + "new files belong to the group", path: path)
    }
    guard folder.allows(rights) else {
      throw StorageError(.denied, "this user is not in the folder's group", path: path)
    }
    self.folder = folder
    id = status.group
  }

  private static func isShared(_ status: FileStatus) -> Bool {
    status.permissions & 0o2070 == 0o2070 && status.permissions & 0o007 == 0
  }

  /// Refuses a folder below the group's folder if it does not belong to the group, or if others can
  /// use it.
  func check(_ child: FolderDescriptor) throws(StorageError) {
    let status = try child.status()
    guard Self.isShared(status), status.group == id else {
      throw StorageError(
        .denied,
        "the folder is not shared with the group as the group's folder is; give it the same group, and "
          + "the mode 2770", path: child.path)
    }
  }

  /// Whether a folder of this user is still empty, because its maker died before sharing it.
  func isUnfinished(_ child: FolderDescriptor) throws(StorageError) -> Bool {
    let status = try child.status()
    guard status.owner == geteuid(), status.group == id, status.permissions & 0o777 == 0o700 else {
      return false
    }
    return try child.isEmpty()
  }

  /// Opens a folder in `parent`; created, with the mode and the group of the group's folder, if it
  /// is missing.
  func makeChild(
    _ name: String, of parent: FolderDescriptor
  ) throws(StorageError) -> FolderDescriptor {
    _ = try parent.makeFolder(name)
    guard let child = try parent.child(name) else {
      throw StorageError(
        .busy, "the folder was removed while it was being made; try again",
        path: parent.path(of: name))
    }
    // mkdir(2) keeps the group by the parent's setgid bit, but applies the umask to the mode.
    if try isUnfinished(child) {
      try child.setMode(0o2770)
      try parent.synchronize()
    }
    try check(child)
    return child
  }
}
