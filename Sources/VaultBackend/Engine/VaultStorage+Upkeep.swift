internal import CryptoCore
public import StorageCore

extension VaultStorage {
  /// Makes the folder of the vault where it is missing, and nothing in it.
  ///
  /// The first write does so itself. A program calls this to do something in the folder before the vault
  /// exists, such as taking a lock. The folder is for the owner alone.
  ///
  /// - Throws: `StorageError`: `denied` for a folder where others could replace the vault, and for root in
  ///   another user's folder, `readOnly` or `full` when it can't be made; nothing was made.
  public func createFolder() throws(StorageError) {
    guard access == .readWrite else {
      throw StorageError(
        .readOnly, "the vault was opened read-only; open it with write access to make its folder",
        path: try resolvedPath())
    }
    try delegate.vault().file.createFolder()
  }

  /// Gives the space of what was removed back to the file system, and forgets what was removed.
  ///
  /// It writes the whole file anew, in one atomic step, and takes as much space again while it does.
  /// Others can read meanwhile; they can't write, and get `busy` when that takes longer than their
  /// deadline.
  ///
  /// - Throws: `StorageError`: `busy`, `full` and the like, or why the keys can't be opened; the vault
  ///   then holds what it held.
  public func compact() throws(StorageError) {
    let engine = try delegate.vault()
    // Every commit keeps the manifest in step, which takes the keys.
    guard try store.openKeys() else { return }
    let end = ContinuousClock.now + delegate.deadline
    // Whoever sets seals aside changes the header: these need not be the keys of the one that is met.
    while try !engine.alone(
      waiting: max(.zero, ContinuousClock.now.duration(to: end)),
      { (end) throws(StorageError) in try engine.compact(until: end) })
    {
      guard ContinuousClock.now < end else { throw Self.changingKeys(engine) }
      try store.openKeys()
    }
  }

  /// What is said when others change the header whenever it is looked at.
  static func changingKeys(_ engine: VaultEngine) -> StorageError {
    StorageError(
      .busy, "another program kept changing the vault's keys; try again", path: engine.file.path)
  }

  /// Replaces all keys after one of them leaked, and with `names` the one that hashes names.
  ///
  /// The same as `keyAdministration.rotate(openedBy:names:keepingOldKeys:progress:)`.
  ///
  /// - Parameters:
  ///   - source: what opens the vault from now on; nil keeps the storage's own.
  ///   - names: whether names are hashed anew, in one step that others' writes wait for.
  ///   - keepingOldKeys: whether the old data keys stay valid for records of other authentication tags.
  ///   - progress: told how many records are done, of how many, now and then.
  /// - Returns: what was sealed anew, what stays and what was set aside: values that can't be read
  ///   until they are taken back.
  /// - Throws: `StorageError`; the vault opens with the old source or with the new one.
  public func rotate(
    openedBy source: KeySource? = nil, names: Bool = false, keepingOldKeys: Bool = false,
    progress: ((Int, Int) -> Void)? = nil
  ) throws(StorageError) -> ReencryptionReport {
    try keyAdministration.rotate(
      openedBy: source, names: names, keepingOldKeys: keepingOldKeys, progress: progress)
  }

  /// Makes one more slot for a recovery key, which opens the vault when its key source is lost.
  ///
  /// The same as `keyAdministration.exportRecoveryKey()`.
  ///
  /// - Returns: the key, to be written down and kept elsewhere; it can't be had again.
  /// - Throws: `StorageError`: `full` when the vault has 32 slots.
  public func exportRecovery() throws(StorageError) -> RecoveryKey {
    try keyAdministration.exportRecoveryKey()
  }
}
