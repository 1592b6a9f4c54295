internal import Glibc

/// Folders that stores make and write to.
package enum Folder {
  /// Makes `path` and its missing parents, each for the owner alone (0700), durably.
  ///
  /// A folder that exists is left as it is.
  package static func create(_ path: String) throws(StorageError) {
    if let status = try FileStatus.of(path) {
      guard status.isFolder else {
        throw StorageError(.unavailable, "it is a file where a folder is needed", path: path)
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

  /// Refuses a folder in which somebody else could replace our files.
  ///
  /// - Parameters:
  ///   - path: the folder.
  ///   - trust: whether a group of this process may write to it.
  /// - Throws: `denied` unless the folder is ours or root's, and neither group nor others can write
  ///   or it is sticky, as `/tmp` is, so that they can't touch files that aren't theirs.
  package static func requirePrivate(
    _ path: String, _ trust: FolderTrust = .owner
  ) throws(StorageError) {
    guard let status = try FileStatus.of(path), status.isFolder else {
      throw StorageError(.unavailable, "the folder is not there", path: path)
    }
    guard status.owner == geteuid() || status.owner == 0 else {
      throw StorageError(
        .denied,
        "the folder belongs to another user: use a folder of your own, or run as its owner",
        path: path)
    }
    guard !trust.lets(othersWriteTo: status) || status.isSticky else {
      throw StorageError(
        .denied, "others can write to the folder; \(trust.advice(for: status))", path: path)
    }
  }

  /// Makes the entries of a folder durable: a new or renamed file survives a power cut only then.
  package static func synchronize(_ path: String) throws(StorageError) {
    guard let folder = try OpenFile(path, O_RDONLY | O_DIRECTORY) else {
      throw StorageError(.unavailable, "the folder is not there", path: path)
    }
    try folder.synchronize()
  }
}
