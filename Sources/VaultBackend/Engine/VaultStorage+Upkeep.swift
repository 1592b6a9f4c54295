internal import CryptoCore
public import StorageCore

extension VaultStorage {
  /// Gives the space of removed records back to the file system, and forgets which ones were
  /// removed.
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
    // Others may change the header, so the open keys may not match the header that is found.
    while try !engine.alone(
      waiting: max(.zero, ContinuousClock.now.duration(to: end)),
      { (end) throws(StorageError) in try engine.compact(until: end) })
    {
      guard ContinuousClock.now < end else { throw Self.changingKeys(engine) }
      try store.openKeys()
    }
  }

  /// The error when others change the header each time that it is read.
  static func changingKeys(_ engine: VaultEngine) -> StorageError {
    StorageError(
      .busy, "another program kept changing the vault's keys; try again", path: engine.file.path)
  }

  /// Replaces all keys after one of them leaked; with `names`, also the key that hashes names.
  ///
  /// The same as `keyAdministration.rotate(openedBy:names:keepingOldKeys:progress:)`.
  ///
  /// - Parameters:
  ///   - source: what opens the vault from now on; nil keeps the storage's own.
  ///   - names: whether names are hashed anew, in one step that others' writes wait for.
  ///   - keepingOldKeys: whether the old data keys stay valid for records of other authentication tags.
  ///   - progress: told now and then how many of all records are done.
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
  /// - Returns: the key; write it down and keep it elsewhere, since it can't be read again.
  /// - Throws: `StorageError`: `full` when the vault has 32 slots.
  public func exportRecovery() throws(StorageError) -> RecoveryKey {
    try keyAdministration.exportRecoveryKey()
  }
}
