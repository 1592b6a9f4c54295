internal import Glibc

/// Makes and checks folders of stores.
package enum Folder {
  /// Makes `path` and its missing parents durably; only the owner can use them (0700).
  ///
  /// An existing folder is not changed.
  package static func create(_ path: String) throws(StorageError) {
    if let status = try FileStatus.of(path) {
      guard status.isFolder else {
        throw StorageError(
          .unavailable, "a folder is needed here, but this is a file; move the file away",
          path: path)
      }
      return
    }
    let parent = FilePath.folder(of: path)
    try create(parent)
    guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw StorageError(system: "create the folder", path: path)
    }
    try synchronize(parent)
  }

  /// Throws if another user could replace this user's files in the folder.
  ///
  /// - Parameters:
  ///   - path: the folder.
  ///   - trust: whether a group of this process may write to the folder.
  /// - Throws: `denied` unless two conditions hold. This user or root owns the folder. Neither group nor
  ///   others can write to it, or it is sticky, as `/tmp` is, so that they can't change files of other users.
  ///   `unavailable` when the folder does not exist.
  package static func requirePrivate(
    _ path: String, _ trust: FolderTrust = .owner
  ) throws(StorageError) {
    guard let status = try FileStatus.of(path), status.isFolder else {
      throw StorageError(
        .unavailable, "the folder does not exist; create it first", path: path)
    }
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
    guard let folder = try OpenFile(path, O_RDONLY | O_DIRECTORY) else {
      throw StorageError(
        .unavailable, "the folder does not exist; create it first", path: path)
    }
    try folder.synchronize()
  }
}
