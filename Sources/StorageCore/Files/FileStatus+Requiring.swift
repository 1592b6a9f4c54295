internal import Glibc

// What a store refuses in the place of its own file or folder.
extension FileStatus {
  /// Refuses what is not a regular file: a folder, a link, a pipe or a device.
  ///
  /// - Throws: `denied`.
  package func requireRegular(_ path: String) throws(StorageError) {
    guard isRegular else {
      throw StorageError(.denied, "it is not a regular file; move it away", path: path)
    }
  }

  /// Refuses what belongs to another user.
  ///
  /// - Parameters:
  ///   - path: its path, for the error.
  ///   - orRoot: whether root's is taken, too: it may be part of a read-only disk, such as an image.
  /// - Throws: `denied`.
  package func requireOwner(_ path: String, orRoot: Bool = true) throws(StorageError) {
    guard owner == geteuid() || orRoot && owner == 0 else {
      throw StorageError(
        .denied, "it belongs to another user: \(StorageError.ownerAdvice)", path: path)
    }
  }

  /// Refuses a file that users can write to whom `trust` excludes.
  ///
  /// - Throws: `denied`.
  package func requireUnshared(_ path: String, _ trust: FolderTrust) throws(StorageError) {
    guard !trust.lets(othersWriteTo: self) else {
      throw StorageError(
        .denied,
        "other users can write to it; check whether another user changed it, then run chmod go-w on it",
        path: path)
    }
  }
}
