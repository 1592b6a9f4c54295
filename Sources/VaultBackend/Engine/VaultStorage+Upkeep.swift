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
  public func createFolder() throws(StorageError) {
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

  /// Replaces all keys after one of them leaked; with `names` also the key that hashes names.
  ///
  /// The same as `keyAdministration.rotate(openedBy:names:keepingOldKeys:progress:)`.
  ///
  /// - Parameters:
  ///   - source: the key source that opens the vault from now on; nil keeps the storage's own.
  ///   - names: whether all names are hashed again, in one step that other writers wait for.
  ///   - keepingOldKeys: whether the old data keys stay valid for records of other authentication
  ///     tags.
  ///   - progress: called now and then with the number of finished records and of all records.
  /// - Returns: how many records were sealed again, left as they were, and set aside. A value that
  ///   was set aside can't be read until it is taken back.
  /// - Throws: `StorageError`; the vault then opens with the old source or with the new one.
  public func rotate(
    openedBy source: KeySource? = nil, names: Bool = false, keepingOldKeys: Bool = false,
    progress: ((Int, Int) -> Void)? = nil
  ) throws(StorageError) -> ReencryptionReport {
    try keyAdministration.rotate(
      openedBy: source, names: names, keepingOldKeys: keepingOldKeys, progress: progress)
  }

  /// Adds a key slot for a recovery key, which opens the vault when its key source is lost.
  ///
  /// The same as `keyAdministration.exportRecoveryKey()`.
  ///
  /// - Returns: the key. Write it down and keep it elsewhere; it can't be shown again.
  /// - Throws: `StorageError`: `full` when the vault has 32 slots.
  public func exportRecovery() throws(StorageError) -> RecoveryKey {
    try keyAdministration.exportRecoveryKey()
  }
}
