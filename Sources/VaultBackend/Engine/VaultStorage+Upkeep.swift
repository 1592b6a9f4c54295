internal import CryptoCore
public import StorageCore

extension VaultStorage {
  /// Makes the folder of the vault where it is missing, and nothing in it.
  ///
  /// The first write does so itself. A program calls this to do something in the folder before the
  /// vault exists, such as taking a lock. The folder is for the owner alone.
  ///
  /// - Throws: `StorageError`: `denied` for a folder where others could replace the vault, and for
  ///   root in another user's folder, `readOnly` or `full` when it can't be made; nothing was made.
  package func createFolder() throws(StorageError) {
    guard access == .readWrite else {
      throw StorageError(
        .readOnly, "the vault was opened read-only; open it with write access to make its folder",
        path: try resolvedPath())
    }
    try delegate.vault().file.createFolder()
  }

  /// Gives the space of removed records back to the file system, and forgets which names were
  /// removed.
  ///
  /// It rewrites the whole file in one atomic step, and needs as much free space as the file has.
  /// Other processes can read meanwhile. Their writes wait, and throw `busy` after their deadline.
  ///
  /// - Throws: `StorageError`, such as `busy` or `full`, or why the keys can't be opened; the vault
  ///   is then unchanged.
  public func compact() throws(StorageError) {
    let engine = try delegate.vault()
    // Every commit updates the manifest, which takes the keys.
    guard try store.openKeys() else { return }
    let end = ContinuousClock.now + delegate.deadline
    // A process that reserves seals changes the header, so the open keys may be those of an older
    // header.
    while try !engine.writer.alone(
      waiting: max(.zero, ContinuousClock.now.duration(to: end)),
      { (end) throws(StorageError) in try engine.writer.compact(until: end) })
    {
      guard ContinuousClock.now < end else { throw Self.changingKeys(engine) }
      try store.openKeys()
    }
  }

  /// The error for a header that other processes change again and again.
  static func changingKeys(_ engine: VaultEngine) -> StorageError {
    StorageError(
      .busy, "another program kept changing the vault's keys; try again", path: engine.file.path)
  }
}
