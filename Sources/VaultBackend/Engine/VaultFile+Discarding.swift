internal import Glibc
internal import StorageCore

extension VaultFile {
  /// The files beside the vault.
  private var companions: [String] { [noticePath, indexPath, logPath, journalPath] }

  /// Refuses to discard what may be no vault of this user, before anything is changed.
  ///
  /// What the files contain does not matter: a file that is no vault is discarded, too.
  ///
  /// - Returns: the folder; nil when it does not exist.
  /// - Throws: `denied` for a folder, a link, a device or another user's file; `readOnly`.
  func openForDiscarding() throws(StorageError) -> FolderDescriptor? {
    try requireOwnName()
    guard let folder = try openFolder() else { return nil }
    for path in [path] + companions {
      guard let status = try folder.status(of: FilePath.name(of: path)) else { continue }
      // Root may remove everybody's files.
      try status.requireOwner(path, orRoot: false)
      // Whoever could write to it can't change what becomes of it.
      if status.isRegular, status.permissions & 0o077 != 0 {
        _ = folder.setPrivate(FilePath.name(of: path))
      }
      guard status.isRegular else {
        throw Self.notRegular(status, path, isVault: path == self.path)
      }
    }
    guard isFolderWritable else { throw OpenedVault.readOnly(self) }
    return folder
  }

  /// Removes a log or journal whose vault is gone, and a file in the place of a journal that is
  /// none: with them there, nothing can be opened or made.
  ///
  /// - Returns: whether there is a vault's file.
  func removeStrayLogs(in folder: FolderDescriptor) throws(StorageError) -> Bool {
    guard try folder.contains(name) else {
      for path in [logPath, journalPath] {
        let name = FilePath.name(of: path)
        // Where one of them has content, nobody makes a vault meanwhile.
        if let status = try folder.status(of: name), status.size > 0 { try folder.remove(name) }
      }
      return false
    }
    do throws(StorageError) {
      _ = try check(mending: true, allowingEmpty: true)
    } catch {
      guard error.code == .damaged, error.path == journalPath else { throw error }
      try folder.remove(FilePath.name(of: journalPath))
    }
    return true
  }

  /// Removes the vault's file and those beside it; the caller alone may open it.
  func remove(from folder: FolderDescriptor) throws(StorageError) {
    // Once the file is gone, others may make a new vault, whose files these would be.
    for path in companions { try folder.remove(FilePath.name(of: path)) }
    try folder.remove(name)
    do throws(StorageError) {
      try folder.synchronize()
    } catch {
      throw StorageError(.outcomeUnknown, error.message, path: path, number: error.number)
    }
  }
}
