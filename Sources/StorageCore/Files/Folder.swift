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
  /// - Throws: `denied` unless two conditions hold. This user or root owns the folder. Neither group nor
  ///   others can write to it, or it is sticky, as `/tmp` is, so that they can't change files of other users.
  ///   `unavailable` when the folder does not exist.
  @discardableResult
  package static func requirePrivate(
    _ path: String, _ trust: FolderTrust = .owner
  ) throws(StorageError) -> FolderDescriptor {
    let folder = try FolderDescriptor.existing(path)
    try requirePrivate(try folder.status(), path, trust)
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
    guard !trust.lets(othersWriteTo: status) || status.isSticky else {
      throw StorageError(
        .denied, "other users can write to the folder; \(trust.advice(for: status))", path: path)
    }
  }

  /// Makes the entries of a folder durable; only then does a new or renamed file survive a power cut.
  package static func synchronize(_ path: String) throws(StorageError) {
    try FolderDescriptor.existing(path).synchronize()
  }
}
