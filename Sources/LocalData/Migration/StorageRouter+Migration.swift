internal import CryptoCore
public import StorageCore

/// Moves values from an older key, or from the place that a former configuration gave them.
///
/// Each value is copied to the destination, read back and compared; only then is it removed at the
/// source. A journal in the ledger records the progress of each migration. If a run is killed, make
/// the same call again; it finishes the run. Reading or writing a key never moves a value.
///
/// A migration is finished after a run that moved the value, or that found no source. The ledger
/// records this. If a source has a value afterwards, somebody may have planted it: each later run
/// throws `conflict` and does not read the value. ``reopenMigration(for:from:)`` lets the next run
/// read the source again.
extension StorageRouter {
  /// Moves the value of a key, from the place of a former configuration and as its `migration`
  /// says.
  ///
  /// - Parameters:
  ///   - key: the key. Its own ``StorageKey/migration`` says where the value may be; without one,
  ///     only the former configuration counts.
  ///   - former: the configuration before the last change, if it changed.
  ///   - dryRun: whether to report only what would be done; nothing is written then.
  /// - Returns: the outcome of each part; empty if the key has no migration and no former
  ///   configuration is given.
  /// - Throws: the error of the part that failed: `conflict` if source and destination hold
  ///   different values, which both stay, or if a source of a finished migration has a value again;
  ///   `unregisteredKey`; `cancelled` if the task was cancelled before; `invalid` for a migration to
  ///   another key or within one place; or why a place can't be read or written. No value is lost.
  @discardableResult
  public nonisolated func migrate<Key: StorageKey>(
    for key: Key, from former: FormerConfiguration? = nil, dryRun: Bool = false
  ) async throws(StorageError) -> StorageMigrationReport {
    if let migration = key.migration, migration.destination.description != "\(AnyStorageKey(key))" {
      throw StorageError(
        .invalid,
        "the key's migration has the destination \(migration.destination), not the key itself",
        key: key.name)
    }
    return try await checked(
      core.migrate(
        RouterCore.plan(AnyStorageKey(key), former), from: former, isDryRun: dryRun,
        onStep: { _ in }, progress: nil))
  }

  /// Lets the next run of a key's migrations read their sources again.
  ///
  /// For a program that knows why a source has a value again, for example because the user restored
  /// an old backup. Call it for this one occasion: if a program calls it at each start, whoever can
  /// write to a plain source decides the value.
  ///
  /// - Parameters:
  ///   - key: the key that declares the migration.
  ///   - former: as for ``migrate(for:from:dryRun:)``.
  /// - Throws: `unregisteredKey`, or why the ledger can't be written.
  public nonisolated func reopenMigration<Key: StorageKey>(
    for key: Key, from former: FormerConfiguration? = nil
  ) async throws(StorageError) {
    try await reopen(RouterCore.plan(AnyStorageKey(key), former), from: former)
  }

  /// Lets the next run of a migration read its sources again; see ``reopenMigration(for:from:)``.
  ///
  /// - Parameters:
  ///   - migration: the migration.
  ///   - former: as for ``migrate(for:from:dryRun:)``.
  /// - Throws: as ``reopenMigration(for:from:)``.
  public nonisolated func reopenMigration(
    _ migration: StorageMigration, from former: FormerConfiguration? = nil
  ) async throws(StorageError) {
    try await reopen([.declared(migration)], from: former)
  }

  private nonisolated func reopen(
    _ plan: [RouterCore.PlannedMigration], from former: FormerConfiguration?
  ) async throws(StorageError) {
    let core = core
    try await Blocking.run { () throws(StorageError) in try core.reopen(plan, from: former) }
  }

  /// Runs one migration.
  ///
  /// - Parameters:
  ///   - migration: the migration. If catalogs are registered, one of them must contain its
  ///     destination.
  ///   - former: the configuration before the last change, if it changed.
  ///   - dryRun: whether to report only what would be done.
  /// - Returns: the outcome.
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
      throw StorageError(.cancelled, "the task was cancelled before the migration started")
    }
    return report
  }

  /// Moves the values of all keys of the registered catalogs, one after the other.
  ///
  /// A failed migration does not stop the others. If the task is cancelled, the running migration
  /// stops where it is, a later run finishes it, and the rest is not started.
  ///
  /// - Parameters:
  ///   - migrations: more migrations, which run after those that keys declare.
  ///   - former: the configuration before the last change, if it changed.
  ///   - dryRun: whether to report only what would be done; nothing is written then.
  ///   - progress: called after each migration, from the task that migrates.
  /// - Returns: what was moved, what was already there, and what failed and why.
  public nonisolated func migrateAll(
    _ migrations: [StorageMigration] = [], from former: FormerConfiguration? = nil,
    dryRun: Bool = false, progress: (@Sendable (StorageMigrationProgress) -> Void)? = nil
  ) async -> StorageMigrationReport {
    await runMigrations(
      migrations, from: former, dryRun: dryRun, onStep: { _ in }, progress: progress)
  }

  /// Like the public call, but reports each completed step, for tests that end the process there.
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
