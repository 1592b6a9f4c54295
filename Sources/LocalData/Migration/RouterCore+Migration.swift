internal import CryptoCore
internal import StorageCore

internal import struct FoundationEssentials.Data

extension RouterCore {
  /// A migration to run.
  enum PlannedMigration: Sendable {
    /// Moves a key from the place that a former configuration gave it.
    case configuration(AnyStorageKey)
    case declared(StorageMigration)

    var destination: String {
      switch self {
      case .configuration(let key): key.description
      case .declared(let migration): migration.destination.description
      }
    }

    func entry(_ outcome: StorageMigrationReport.Outcome) -> StorageMigrationReport.Entry {
      switch self {
      case .configuration(let key):
        StorageMigrationReport.Entry(
          sources: ["\(key) under the former configuration"], destination: destination,
          outcome: outcome)
      case .declared(let migration):
        StorageMigrationReport.Entry(
          sources: migration.sources.map(\.description), destination: destination,
          outcome: outcome)
      }
    }
  }

  /// The migrations to run for a key, in order.
  static func plan(
    _ key: AnyStorageKey, _ former: FormerConfiguration?
  ) -> [PlannedMigration] {
    var plan: [PlannedMigration] = former == nil ? [] : [.configuration(key)]
    if let migration = key.base.migration { plan.append(.declared(migration)) }
    return plan
  }

  /// Runs the planned migrations.
  func migrate(
    _ plan: [PlannedMigration], from former: FormerConfiguration?, isDryRun: Bool,
    onStep: @escaping @Sendable (MigrationStep) -> Void,
    progress: (@Sendable (StorageMigrationProgress) -> Void)?
  ) async -> StorageMigrationReport {
    var report = StorageMigrationReport(isDryRun: isDryRun)
    let migrator = Migrator(core: self, isDryRun: isDryRun, onStep: onStep)
    for planned in plan {
      let outcome: StorageMigrationReport.Outcome
      if Task.isCancelled {
        outcome = .notStarted
      } else {
        do throws(StorageError) {
          outcome = try await run(planned, from: former, migrator)
        } catch {
          outcome = .failed(error)
        }
      }
      let entry = planned.entry(outcome)
      report.entries.append(entry)
      progress?(
        StorageMigrationProgress(done: report.entries.count, total: plan.count, last: entry))
    }
    return report
  }

  private func run(
    _ planned: PlannedMigration, from former: FormerConfiguration?, _ migrator: Migrator
  ) async throws(StorageError) -> StorageMigrationReport.Outcome {
    let state = state.withLock { $0 }
    let work: Migrator.Work?
    switch planned {
    case .configuration(let key):
      guard Self.isHere(key, state) else { return .skipped }
      work = try await Blocking.run { [self] () throws(StorageError) in
        try configurationWork(key.base, state, former)
      }
      if work == nil { return try await present(key.base, state) }
    case .declared(let migration):
      guard Self.isHere(migration.destination, state) else { return .skipped }
      work = try await Blocking.run { [self] () throws(StorageError) in
        try declaredWork(migration, state, former)
      }
    }
    guard let work else { return .absent }
    return try await migrator.run(work)
  }

  private static func isHere(_ key: AnyStorageKey, _ state: RouterState) -> Bool {
    key.base.availability.allows(machineOf: state.storage.machineTags)
  }

  /// Whether a key has a value at its present place.
  private func present(
    _ key: any StorageKey, _ state: RouterState
  ) async throws(StorageError) -> StorageMigrationReport.Outcome {
    try await Blocking.run { [self] () throws(StorageError) in
      let end = try end(of: key, under: state)
      try end.requireNoConflict()
      return try end.place.contains() ? .alreadyThere : .absent
    }
  }

  // MARK: - Configurations

  /// The move of a key from the place of a former configuration; nil if there is nothing to move.
  func configurationWork<Key: StorageKey>(
    _ key: Key, _ state: RouterState, _ former: FormerConfiguration?
  ) throws(StorageError) -> Migrator.Work? {
    guard let former else { return nil }
    try Self.requireRegistration(of: key, in: state)
    let now = try end(of: key, under: state)
    let before = try end(of: key, under: former.applied(to: state))
    guard !before.isWhere(now.entry) else { return nil }
    let name = try JournalName([before], now)
    let recorded = try ledger.entry(key.domain, key.name)
    if try ledger.journal(name) == nil, let recorded {
      // Already moved; or at a third place, which `present` refuses.
      guard before.isWhere(recorded) else { return nil }
    }
    return Migrator.Work(
      sources: [before], destination: now, winner: .neither, conditions: [],
      produce: { $0[0] }, journal: name, finished: try FinishedName.all([before], now),
      isRecordedAtSource: recorded.map { before.isWhere($0) } ?? false)
  }

  // MARK: - Declared migrations

  func declaredWork(
    _ migration: StorageMigration, _ state: RouterState, _ former: FormerConfiguration?
  ) throws(StorageError) -> Migrator.Work {
    guard !migration.sources.isEmpty else {
      throw StorageError(
        .invalid, "the migration has no source", key: migration.destination.base.name)
    }
    try Self.requireRegistration(of: migration.destination.base, in: state)
    let destination = try end(of: migration.destination.base, under: state)
    var sources: [MigrationEnd] = []
    for source in migration.sources {
      let end = try self.source(source.base, state, former, destination)
      guard !sources.contains(where: { $0.address == end.address }) else {
        throw StorageError(.duplicate, "a migration names the source \(source) twice")
      }
      sources.append(end)
    }
    return Migrator.Work(
      sources: sources, destination: destination, winner: migration.winner,
      conditions: migration.conditions, produce: migration.produce,
      journal: try JournalName(sources, destination),
      finished: try FinishedName.all(sources, destination))
  }

  /// The end of a source: the place in the ledger, under this configuration or the former one.
  private func source(
    _ key: any StorageKey, _ state: RouterState, _ former: FormerConfiguration?,
    _ destination: MigrationEnd
  ) throws(StorageError) -> MigrationEnd {
    let now = try end(of: key, under: state)
    guard let recorded = try ledger.entry(key.domain, key.name), !now.isWhere(recorded) else {
      return now
    }
    if let former {
      let before = try end(of: key, under: former.applied(to: state))
      if before.isWhere(recorded) { return before }
    }
    // The destination has the same name and domain as the source, and already holds the value.
    if destination.label == now.label, destination.isWhere(recorded) { return now }
    try now.requireNoConflict()
    return now
  }
}
