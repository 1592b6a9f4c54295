internal import CryptoCore
internal import StorageCore

extension VaultEngine {
  /// The names of all records, and the number of missing ones, from one snapshot.
  ///
  /// The file's structure may be damaged where SQLite does not look, so that rows are left out: the
  /// manifest knows the right number.
  ///
  /// - Returns: nil when the manifest's keys are not open for the present header.
  func census(waiting deadline: Duration) throws(StorageError) -> RecordCensus? {
    let census = try follower.reading(waiting: deadline) {
      (connection) throws(StorageError) -> RecordCensus? in
      let header = try VaultRows.header(connection)
      let (known, keys) = memory.withLock { ($0.header, $0.currentManifestKeys) }
      guard header == known, let keys else { return nil }
      let count = try Manifest.count(in: connection, keys)
      let names = try VaultRows.distinctNames(connection)
      return RecordCensus(names: names, missing: max(0, (count ?? 0) - names.count))
    }
    // Without a file there are no records.
    return census ?? RecordCensus(names: [], missing: 0)
  }

  /// The names among `names` that the table has but the index lacks, each with the name that the
  /// index has for its row, if any.
  ///
  /// This reads the table once more, which happens only for a damaged file or after a removal.
  func strays(
    among names: Set<NameHash>, waiting deadline: Duration
  ) throws(StorageError) -> [NameHash?] {
    try follower.reading(waiting: deadline) { (connection) throws(StorageError) in
      var rows: [Int64] = []
      try VaultRows.visitNames(connection) { (sequence, name) throws(StorageError) in
        if names.contains(name), try VaultRows.record(name, connection) == nil {
          rows.append(sequence)
        }
      }
      guard !rows.isEmpty else { return [] }
      var found: [Int64: NameHash] = [:]
      let wanted = Set(rows)
      try VaultRows.visitIndex(connection) { sequence, name in
        if wanted.contains(sequence), !names.contains(name) { found[sequence] = name }
      }
      return rows.map { found[$0] }
    } ?? []
  }
}
