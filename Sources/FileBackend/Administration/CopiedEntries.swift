internal import CryptoCore
internal import StorageCore

/// The entries of a copied index, and what is left out of the backup.
struct CopiedEntries {
  var blobs: [(name: StoreKey, blob: BlobEntry)] = []
  private(set) var backup: SealedFolderBackup

  init(backup: SealedFolderBackup) { self.backup = backup }

  mutating func leave(_ name: StoreKey, _ error: StorageError) {
    backup.leftOut.append(.init(name: name, error: error.about(name)))
  }

  /// Refuses an index with an entry that can't be read.
  func requireReadable(_ path: String) throws(StorageError) {
    if let left = backup.leftOut.first { throw left.error.advisingToLeaveOut(left.name) }
    guard backup.unnamedCount == 0 else {
      throw StorageError(
        .damaged,
        "\(backup.unnamedCount) of the entries can't be read, and their names are not known",
        path: path
      ).advisingToLeaveOut(nil)
    }
  }
}

extension StorageError {
  /// The same error, with advice on how to back up the rest.
  func advisingToLeaveOut(_ name: StoreKey?) -> StorageError {
    StorageError(
      code,
      message
        + ". To back up the rest, leave out what can't be read: use leavingOutUnreadable, or files backup "
        + "--skip-damaged",
      key: name, path: path, number: number)
  }
}
