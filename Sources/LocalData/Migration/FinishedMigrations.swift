internal import CryptoCore
internal import StorageCore

internal import struct FoundationEssentials.Data

/// The name of a migration in the ledger's list of finished ones.
///
/// It depends on the declared keys and on the kind of the sources' places. It does not depend on
/// parameters that may change later, such as a cipher or a folder of the configuration: a finished
/// migration stays finished.
struct FinishedName: Hashable, Sendable {
  let text: String

  init(_ sources: [MigrationEnd], _ destination: MigrationEnd) throws(StorageError) {
    var names = ""
    for source in sources {
      let isPlain = source.entry.protection == .plain
      names += "\(source.address.kind.rawValue)\u{1F}\(source.label)\u{1F}\(isPlain)\u{1F}"
      // The key of a former configuration has the same label: its place tells the two apart.
      names += "\(source.label == destination.label ? "\(source.address)" : "")\u{1E}"
    }
    names += destination.label
    text = "migrated:" + Hexadecimal.encode(try ValueDigest.of(Data(names.utf8)))
  }

  /// The names of a migration: its own, then one for each source, so that another migration to the
  /// same key does not read a source again.
  static func all(
    _ sources: [MigrationEnd], _ destination: MigrationEnd
  ) throws(StorageError) -> [FinishedName] {
    var names = [try FinishedName(sources, destination)]
    for source in sources where sources.count > 1 {
      names.append(try FinishedName([source], destination))
    }
    return names
  }
}

extension Ledger {
  func isFinished(_ name: FinishedName) throws(StorageError) -> Bool {
    try storage.contains(name.text)
  }

  /// Begins a run, unless another process has just finished the migration.
  ///
  /// - Returns: whether the run began.
  func begin(
    _ journal: MigrationJournal, _ name: JournalName, unless finished: FinishedName?
  ) throws(StorageError) -> Bool {
    try storageErrors {
      try storage.transaction { transaction in
        if let finished, try transaction.contains(finished.text) { return false }
        try transaction.save(encodable: journal, forKey: name.text)
        return true
      }
    }
  }

  /// Records that a migration is finished, and removes its journal, in one step.
  ///
  /// In two steps, a kill between them would leave a journal that lets the next run read a source
  /// again.
  func finish(_ names: [FinishedName], _ journal: JournalName) throws(StorageError) {
    try storageErrors {
      try storage.transaction { transaction in
        for name in names { try transaction.save(true, forKey: name.text) }
        try transaction.delete(forKey: journal.text)
      }
    }
  }

  /// Forgets that a migration is finished.
  func reopen(_ names: [FinishedName]) throws(StorageError) {
    for name in names { try storage.delete(forKey: name.text) }
  }
}

extension RouterCore {
  /// Forgets that a key's migrations are finished.
  func reopen(
    _ plan: [PlannedMigration], from former: FormerConfiguration?
  ) throws(StorageError) {
    let state = state.withLock { $0 }
    for planned in plan {
      switch planned {
      case .configuration(let key):
        guard let work = try configurationWork(key.base, state, former) else { continue }
        try ledger.reopen(work.finished)
      case .declared(let migration):
        try ledger.reopen(try declaredWork(migration, state, former).finished)
      }
    }
  }
}
