internal import Glibc
internal import StorageCore

extension FolderDescriptor {
  /// Removes an entry and, if it is a folder, everything in it; follows no link.
  func removeAll(_ name: String) throws(StorageError) {
    guard let status = try status(of: name) else { return }
    guard status.isFolder else {
      try remove(name)
      return
    }
    guard let folder = try child(name) else { return }
    for inner in try folder.names() { try folder.removeAll(inner) }
    guard unsafe unlinkat(descriptor, name, AT_REMOVEDIR) == 0 || errno == ENOENT else {
      throw StorageError(
        system: "remove an unfinished folder, which you can remove by hand", path: path(of: name))
    }
  }
}
