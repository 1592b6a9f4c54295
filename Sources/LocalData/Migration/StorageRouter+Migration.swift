internal import CryptoCore
public import StorageCore

/// Moving values: from an older key, or from where a former configuration put them.
///
/// Each value is copied to the destination, read back and compared; only then is it removed at the source.
/// A journal in the ledger says how far each one is. A run that was killed is started again with the same
/// call, and finishes. Values are not moved by reading or writing a key.
extension StorageRouter {
  /// Moves the value of a key: from where a former configuration put it, and as its `migration` says.
  ///
  /// - Parameters:
  ///   - key: the key. Its own ``StorageKey/migration`` says where the value may be; without one, only
  ///     the former configuration counts.
  ///   - former: the configuration that was in use before, where that changed.
  ///   - dryRun: whether only to find out what would be done; nothing is written then.
  /// - Returns: what became of each part, which is empty when the key has no migration and no former
  ///   configuration is given.
  /// - Throws: the error of the part that failed: `conflict` where source and destination hold different
  ///   values, which are both left; `unregisteredKey`; or why a place can't be read or written. No value
  ///   is lost.
  @discardableResult
  public nonisolated func migrate<Key: StorageKey>(
    for key: Key, from former: FormerConfiguration? = nil, dryRun: Bool = false
  ) async throws(StorageError) -> StorageMigrationReport {
    if let migration = key.migration, migration.destination.description != "\(AnyStorageKey(key))" {
      throw StorageError(
        .invalid,
        "the key's migration leads to \(migration.destination), and not to the key itself",
        key: key.name)
    }
    return try await checked(
      core.migrate(
        RouterCore.plan(AnyStorageKey(key), former), from: former, isDryRun: dryRun,
        onStep: { _ in }, progress: nil))
  }

  /// Runs one migration.
  ///
  /// - Parameters:
  ///   - migration: the migration. Once catalogs are registered, its destination has to be in one.
  ///   - former: the configuration that was in use before, where that changed.
  ///   - dryRun: whether only to find out what would be done.
  /// - Returns: what became of it.
  /// - Throws: as ``migrate(for:from:dryRun:)``.
  @discardableResult
  public nonisolated func migrate(
    _ migration: StorageMigration, from former: FormerConfiguration? = nil, dryRun: Bool = false
  ) async throws(StorageError) -> StorageMigrationReport {
    try await checked(
      core.migrate(
        [.declared(migration)], from: former, isDryRun: dryRun, onStep: { _ in }, progress: nil))
  }

  private nonisolated func checked(
    _ report: StorageMigrationReport
  ) throws(StorageError) -> StorageMigrationReport {
    if let error = report.failed.first?.error { throw error }
    guard report.entries(.notStarted).isEmpty else {
      throw StorageError(.cancelled, "the caller's task was cancelled before the migration")
    }
    return report
  }

  /// Moves the values of all keys of the registered catalogs, one after the other.
  ///
  /// A migration that fails stops none of the others. When the task is cancelled, the one that runs is
  /// left where it is, for a later run to finish, and the rest is not started.
  ///
  /// - Parameters:
  ///   - migrations: further ones, which run after those that keys declare.
  ///   - former: the configuration that was in use before, where that changed.
  ///   - dryRun: whether only to find out what would be done; nothing is written then.
  ///   - progress: told after each one, from the task that migrates.
  /// - Returns: what moved, what was there already, and what failed and why.
  public nonisolated func migrateAll(
    _ migrations: [StorageMigration] = [], from former: FormerConfiguration? = nil,
    dryRun: Bool = false, progress: (@Sendable (StorageMigrationProgress) -> Void)? = nil
  ) async -> StorageMigrationReport {
    await runMigrations(
      migrations, from: former, dryRun: dryRun, onStep: { _ in }, progress: progress)
  }

  /// The same, telling each step that is done: for tests that end the process there.
  package nonisolated func runMigrations(
    _ migrations: [StorageMigration] = [], from former: FormerConfiguration? = nil,
    dryRun: Bool = false, onStep: @escaping @Sendable (MigrationStep) -> Void,
    progress: (@Sendable (StorageMigrationProgress) -> Void)? = nil
  ) async -> StorageMigrationReport {
    let catalogs = core.state.withLock { $0.catalogs }
    let keys = catalogs.sorted { $0.key < $1.key }.flatMap(\.value)
    let plan =
      keys.flatMap { RouterCore.plan($0, former) }
      + migrations.map { RouterCore.PlannedMigration.declared($0) }
    return await core.migrate(
      plan, from: former, isDryRun: dryRun, onStep: onStep, progress: progress)
  }
}
