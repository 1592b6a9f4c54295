internal import CryptoCore
internal import StorageCore

extension VaultEngine {
  /// The store of the file's last commit, and its numbers; the manifest's number only if its keys
  /// are open.
  func lastCommit(
    _ stamps: VaultRows.Stamps, _ header: [UInt8]?, _ connection: Connection
  ) throws(StorageError) -> (store: SeenCommits.Store?, numbers: SeenCommits.Numbers) {
    var numbers = SeenCommits.Numbers(rows: stamps.generation)
    guard let header, let store = SeenCommits.Store(header: header) else { return (nil, numbers) }
    let (known, keys) = memory.withLock { ($0.header, $0.currentManifestKeys) }
    if let keys, known == header {
      let manifest = try VaultTransaction.manifest(try VaultRows.manifest(connection), keys)
      numbers.manifest = manifest.map { Int64(clamping: $0.generation) }
    }
    return (store, numbers)
  }

  /// Whether another process has restored the present state, whose header has the given version:
  /// only somebody with the keys can write a manifest whose number is so far beyond those that were
  /// seen.
  func wasRestored(
    _ keys: ManifestKeys, headerVersion: UInt64, waiting deadline: Duration
  ) throws(StorageError) -> Bool {
    let past = seen.all
    return try reading(waiting: deadline) { (connection) throws(StorageError) in
      let header = try VaultRows.header(connection)
      let (known, version) = memory.withLock { ($0.header, $0.headerVersion) }
      guard let header, header == known, version == headerVersion,
        let manifest = try VaultTransaction.manifest(try VaultRows.manifest(connection), keys)
      else { return false }
      let latest = try Self.latest(in: connection, past).manifest ?? 0
      let generation = Int64(clamping: manifest.generation)
      guard VaultRows.isFarBeyond(latest, generation) else { return false }
      seen.noteRestoration(of: header)
      return true
    } ?? false
  }

  /// Notes that the header that a connection sees was put there on purpose.
  func noteRestoration(in connection: Connection) throws(StorageError) {
    if let header = try VaultRows.header(connection) { seen.noteRestoration(of: header) }
  }

  /// The error for a file that is older than the state that this process has seen.
  func wentBack(_ latest: Int64, _ number: Int64) -> StorageError {
    StorageError(
      .damaged,
      "the vault was replaced by an older version (commit \(number) instead of \(latest)) while this "
        + "program was running. If you did this on purpose, restart the programs that use the vault, "
        + "and use restore for backups next time. Otherwise verify the vault, and restore or repair it",
      path: file.path)
  }

  /// The latest commit that this process has seen of the store that a connection sees.
  ///
  /// `past` was asked for before that state was read.
  static func latest(
    in connection: Connection, _ past: SeenCommits.Past
  ) throws(StorageError) -> SeenCommits.Numbers {
    let header = try VaultRows.header(connection)
    return header.flatMap { SeenCommits.Store(header: $0) }.flatMap { past[$0] }
      ?? SeenCommits.Numbers()
  }

  /// The records and tombstones in memory that differ from the file's.
  func differences(
    _ connection: Connection
  ) throws(StorageError) -> [(name: NameHash, kept: KeptRecord)] {
    var changes: [(name: NameHash, kept: KeptRecord)] = []
    for (key, old) in memory.withLock({ $0.records.all }) {
      let new = try VaultRows.kept(key.name, connection)
      if new.record != old.record || new.removal != old.removal { changes.append((key.name, new)) }
    }
    // Records that were too long to keep can't be compared, so they are all reported.
    for key in memory.withLock({ $0.unkept }) {
      changes.append((key.name, try VaultRows.kept(key.name, connection)))
    }
    return changes
  }

  /// The records that memory does not know.
  func additions(
    _ connection: Connection
  ) throws(StorageError) -> [(name: NameHash, kept: KeptRecord)] {
    try VaultRows.changes(since: 0, withRecords: true, connection).filter { change in
      change.kept.record != nil
        && memory.withLock { $0.records[NameKey(change.name)] == nil }
    }
  }
}
