internal import CryptoCore
internal import StorageCore

extension VaultEngine {
  /// The records of some buckets of the manifest, and whether they are the last ones written.
  ///
  /// Anybody may have written records that don't open: a bucket that agrees without all of them, or
  /// without one of them, counts like one that agrees with all.
  ///
  /// - Returns: nil when the header has another version, or the manifest's keys are not open.
  func accounts(
    _ buckets: Range<Int>, headerVersion: UInt64, waiting deadline: Duration,
    opens: (NameHash, [UInt8]) throws(StorageError) -> Bool
  ) throws(StorageError) -> [RecordAccount]? {
    let accounts = try follower.reading(waiting: deadline) {
      (connection) throws(StorageError) -> [RecordAccount]? in
      let header = try VaultRows.header(connection)
      let (known, version, keys) = memory.withLock {
        ($0.header, $0.headerVersion, $0.currentManifestKeys)
      }
      guard header == known, version == headerVersion, let keys else { return nil }
      return try Accounts(buckets, connection, keys).compared(connection, opens: opens)
    }
    // Without a file there are no records.
    return accounts ?? []
  }
}

/// The content of some buckets, and the content that the manifest counts.
private struct Accounts {
  private let buckets: Range<Int>
  /// The stored manifest; nil when it was altered.
  private let stored: Manifest?
  /// The records, by bucket.
  private let entries: [[RecordAccount.Entry]]
  /// The figures computed from all present records.
  private let actual: Manifest

  init(
    _ buckets: Range<Int>, _ connection: Connection, _ keys: ManifestKeys
  ) throws(StorageError) {
    var entries = [[RecordAccount.Entry]](repeating: [], count: buckets.count)
    var actual = Manifest()
    let stored = try Manifest.stored(in: connection, keys)
    // Nobody with the keys made a tombstone after the manifest.
    let last = stored.map { Int64(clamping: $0.generation) } ?? .max
    for bucket in buckets {
      try VaultRows.visit(bucket: bucket, connection) {
        (sequence, name, record) throws(StorageError) in
        guard let record else {
          guard sequence <= last else { return }
          return actual.addRemoval(try RecordShare(ofRemoval: sequence, name, keys), name)
        }
        let share = try RecordShare(of: record, name, keys)
        actual.add(share, name)
        entries[bucket - buckets.lowerBound].append(
          RecordAccount.Entry(name: name, share: share, size: record.count))
      }
    }
    self.buckets = buckets
    (self.entries, self.actual) = (entries, actual)
    self.stored = stored
  }

  func compared(
    _ connection: Connection, opens: (NameHash, [UInt8]) throws(StorageError) -> Bool
  ) throws(StorageError) -> [RecordAccount] {
    var accounts: [RecordAccount] = []
    for (bucket, entries) in zip(buckets, entries) {
      var isBalanced = agrees(actual, bucket)
      if !isBalanced, stored != nil {
        var closed: [RecordAccount.Entry] = []
        for entry in entries {
          guard let record = try VaultRows.record(entry.name, connection) else { continue }
          if try !opens(entry.name, record) { closed.append(entry) }
        }
        isBalanced = agreesWithout(closed, bucket)
      }
      accounts.append(RecordAccount(entries, isBalanced: isBalanced))
    }
    return accounts
  }

  private func agrees(_ figures: Manifest, _ bucket: Int) -> Bool {
    guard let stored else { return false }
    let (should, found) = (stored.buckets[bucket], figures.buckets[bucket])
    return should == found
  }

  /// Whether the bucket agrees without one of these records, or without any.
  private func agreesWithout(_ closed: [RecordAccount.Entry], _ bucket: Int) -> Bool {
    var withoutAll = actual
    for entry in closed {
      var withoutOne = actual
      withoutOne.remove(entry.share, entry.name)
      if agrees(withoutOne, bucket) { return true }
      withoutAll.remove(entry.share, entry.name)
    }
    return agrees(withoutAll, bucket)
  }
}
