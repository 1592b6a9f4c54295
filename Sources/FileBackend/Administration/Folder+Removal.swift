internal import StorageCore

internal import class Foundation.FileManager

extension Folder {
  /// Removes a folder and all that is in it, if it is there.
  static func removeAll(_ path: String) throws(StorageError) {
    guard try FileStatus.ofEntry(path) != nil else { return }
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      throw StorageError(
        .io, "an unfinished folder could not be removed; remove it by hand", path: path)
    }
  }
}
