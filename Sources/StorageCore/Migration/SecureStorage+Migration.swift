extension SecureStorage {
  /// Moves, or copies, all values of one storage to another: copied, read back, and only then
  /// removed.
  ///
  ///     try SecureStorage.migrate(from: UserDefaultsStorage.standard, to: vault)
  ///
  /// Values keep their keys and are the same bytes, whatever their types; each is sealed anew with
  /// the keys of the destination. At every moment a value is in the one place or the other, or in
  /// both, also when the process is killed: migrate again to finish. Both storages may be in use
  /// meanwhile. A value is removed from the source only if it is still the one that was copied; what
  /// is saved there under a new key while the migration runs may stay.
  ///
  /// Goes in batches of some hundred values, each one commit. Their plaintext is wiped.
  ///
  /// - Parameters:
  ///   - source: where the values are. Its delegate must be able to list and, when values are to be
  ///     removed, be a ``KeysetDelegate``, since others can't compare and remove in one step.
  ///   - destination: where they go.
  ///   - policy: what to do with a key that has another value there.
  ///   - removingFromSource: whether a value that is safe in the destination leaves the source.
  ///   - progress: told after each batch how many records of how many were looked at.
  /// - Returns: what became of the values.
  /// - Throws: `StorageError`: `unsupported` for a source that can't do what is asked; `invalid` when
  ///   both are the same store; or why the one can't be read or the other written. Batches before
  ///   the error are done, and no value is lost.
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
