package import StorageCore

extension VaultStorage {
  /// Reads the header from the file, even if it is in memory.
  ///
  /// - Throws: `StorageError`: `unavailable` when the file is gone or was replaced, or why it can't
  ///   be read.
  package func look() throws(StorageError) {
    let engine = try delegate.vault()
    let isThere = try engine.follower.reading(waiting: delegate.deadline) {
      (connection) throws(StorageError) -> Bool in
      guard try !connection.hasMoved() else { return false }
      return try VaultRows.header(connection) != nil
    }
    guard isThere == true else {
      throw StorageError(
        .unavailable,
        "the vault is gone or was replaced while it was in use; restore it, or mount its disk",
        path: engine.file.path)
    }
  }

  /// Closes the file; the next use of the vault opens it again.
  package func letGo() throws(StorageError) { try delegate.vault().gate.shutDown() }
}
