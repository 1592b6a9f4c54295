extension SecureStorage {
  /// Moves or copies all values of one storage to another.
  ///
  /// Each value is copied, read back, and only then removed.
  ///
  ///     try SecureStorage.migrate(from: UserDefaultsStorage.standard, to: vault)
  ///
  /// Values keep their keys, their types and their bytes; each is sealed again with the keys of the
  /// destination. At every moment a value is in one of the places or in both, even if the process
  /// is killed; migrate again to finish. Both storages may be in use meanwhile. A value is removed
  /// from the source only if it has not changed since it was copied. A value that is saved in the
  /// source under a new key during the migration may stay there.
  ///
  /// Works in batches of a few hundred values, each batch in one commit. Plaintext is wiped from
  /// memory.
  ///
  /// - Parameters:
  ///   - source: the storage that holds the values. Its delegate must be able to list. To remove
  ///     values, it must be a ``RecordPlace``, because others can't compare and remove in one
  ///     step.
  ///   - destination: the storage that receives the values.
  ///   - policy: what to do with a key that has another value in the destination.
  ///   - removingFromSource: whether a value is removed from the source once the destination has
  ///     it.
  ///   - progress: called after each batch with the number of records done and the total.
  /// - Returns: what happened to the values.
  /// - Throws: `StorageError`: `unsupported` when the source can't list or remove; `invalid` when
  ///   both are the same store; or the reason why the source can't be read or the destination
  ///   written. Batches before the error are complete, and no value is lost.
  @discardableResult
  public static func migrate(
    from source: some Storage, to destination: some Storage,
    onConflict policy: MigrationConflictPolicy = .keepBoth, removingFromSource: Bool = true,
    progress: ((_ done: Int, _ total: Int) -> Void)? = nil
  ) throws(StorageError) -> MigrationReport {
    var migration = Migration(
      source: source.store, destination: destination.store, policy: policy,
      removes: removingFromSource)
    try migration.run(progress: progress)
    return migration.report
  }
}
