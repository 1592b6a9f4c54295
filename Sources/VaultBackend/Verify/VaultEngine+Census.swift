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
}
