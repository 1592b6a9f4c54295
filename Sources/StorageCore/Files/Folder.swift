internal import Glibc

/// Makes and checks folders of stores.
package enum Folder {
  /// Makes `path` and its missing parents durably; only the owner can use them (0700).
  ///
  /// An existing folder is not changed.
  ///
  /// - Returns: the folder, open.
  @discardableResult
  package static func create(_ path: String) throws(StorageError) -> FolderDescriptor {
    if let folder = try FolderDescriptor.open(path, isMaking: true) { return folder }
    throw StorageError(
      .busy, "the folder was removed while it was being made; try again", path: path)
  }

  /// Throws if another user could replace this user's files in the folder.
  ///
  /// - Parameters:
  ///   - path: the folder.
  ///   - trust: whether a group of this process may write to the folder.
  /// - Returns: the folder that was checked, open.
  /// - Throws: `denied` unless two conditions hold. This user or root owns the folder. Nobody else
  ///   can write to it (see ``FolderTrust``), or it is sticky, as `/tmp` is, so that they can't
  ///   change files of other users. `unavailable` when the folder does not exist.
  @discardableResult
  package static func requirePrivate(
    _ path: String, _ trust: FolderTrust = .owner
  ) throws(StorageError) -> FolderDescriptor {
    let folder = try FolderDescriptor.existing(path)
    try requirePrivate(try folder.status(), path, trust)
    return folder
  }

  /// The same, and looks at each folder on the way as well.
  ///
  /// Whoever can write to a folder on the way can put another one in the place of the last. A group
  /// of this process may write to folders on the way, as on a volume of a container.
  ///
  /// - Parameters:
  ///   - path: the folder.
  ///   - isMaking: whether missing folders are made, each once those above it were looked at.
  /// - Returns: the folder, open.
  /// - Throws: `denied` for a folder in which others could put another one; `unavailable` when the
  ///   folder does not exist.
  @discardableResult
  package static func requirePrivateWay(
    _ path: String, isMaking: Bool = false
  ) throws(StorageError) -> FolderDescriptor {
    let folder = try FolderDescriptor.open(path, isMaking: isMaking) {
      (status, path) throws(StorageError) in
      try requirePrivate(status, path, .processGroup)
    }
    guard let folder else {
      throw StorageError(
        .unavailable, "the folder does not exist, or was just removed; create it first", path: path)
    }
    try requirePrivate(try folder.status(), path)
    return folder
  }

  /// The same for the status of a folder.
  package static func requirePrivate(
    _ status: FileStatus, _ path: String, _ trust: FolderTrust = .owner
  ) throws(StorageError) {
    guard status.owner == geteuid() || status.owner == 0 else {
      throw StorageError(
        .denied,
        "the folder belongs to another user: use a folder of your own, or run as its owner",
        path: path)
    }
    guard !trust.lets(othersWriteInto: status, at: path) || status.isSticky else {
      throw StorageError(
        .denied, "other users can write to the folder; \(trust.advice(for: status))", path: path)
    }
  }

  /// Whether permissions do not hold for this process.
  package static var isPrivileged: Bool { geteuid() == 0 }

  /// Refuses to make a file or folder in a folder where only the privileges of root allow it.
  ///
  /// Root may write everywhere, but what root makes belongs to root. In another user's folder, as
  /// under sudo(8) with the user's HOME, the owner could then neither use the store nor make one.
  /// Where the owner lets others write, root may make files as any other user.
  ///
  /// - Parameters:
  ///   - status: the status of the folder.
  ///   - path: its path, for the error.
  /// - Throws: `denied`.
  package static func requireMaking(in status: FileStatus, _ path: String) throws(StorageError) {
    guard isPrivileged, status.owner != 0, !status.isShared else { return }
    throw StorageError(
      .denied,
      "the folder belongs to another user, and what root makes in it would lock that user out; nothing was "
        + "made. Run as the folder's owner, or use a folder of root's (sudo -H sets HOME to root's)",
      path: path)
  }

  /// The same for a file that is to be made at a path, whose folder is open or AT_FDCWD.
  static func requireMaking(_ path: String, at folder: Int32) throws(StorageError) {
    let name = FilePath.folder(of: path)
    guard isPrivileged else { return }
    let status =
      folder == AT_FDCWD
      ? FileStatus.ofFolder(containing: path) : try FileStatus.of(descriptor: folder, path: name)
    // Where there is no folder, the file can't be made either.
    if let status { try requireMaking(in: status, name) }
  }

  /// Makes the entries of a folder durable; only then does a new or renamed file survive a power
  /// cut.
  package static func synchronize(_ path: String) throws(StorageError) {
    try FolderDescriptor.existing(path).synchronize()
  }
}
