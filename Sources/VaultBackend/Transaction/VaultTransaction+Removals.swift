internal import CryptoCore
internal import StorageCore

// A removal leaves a tombstone, which the manifest counts. If somebody hid a record while it was
// removed, the manifest counts both record and tombstone. But a name has one row, so both can't be
// there.
extension VaultTransaction {
  /// Tombstones of a bucket are forgotten when there are more of them than this, and more than
  /// records.
  private static let removalLimit: UInt32 = 32
  /// Comparing a bucket of at most this many rows with the manifest takes less time than a commit.
  private static let fewRows: UInt32 = 64

  /// Whether the removal of a name without a record needs no tombstone of its own: the manifest
  /// confirms that there is no record, so nobody who hid one can put it back unnoticed.
  mutating func needsNoTombstone(_ name: NameHash, _ old: Replaced) throws(StorageError) -> Bool {
    guard let keys, manifest != nil else { return true }
    // This process wrote the existing tombstone, and the manifest counts it.
    if case .removal(_, .some) = old { return true }
    let bucket = Manifest.bucket(of: name)
    if agreeing & 1 << bucket != 0 { return true }
    // The manifest and the rows must be of the same state.
    try writeRows()
    try account()
    guard let counted = manifest?.buckets[bucket],
      counted.count &+ counted.removals <= Self.fewRows,
      try tombstones(of: bucket, if: counted, keys) != nil
    else { return false }
    agreeing |= 1 << bucket
    return true
  }

  /// The tombstones of a bucket, or nil when its rows disagree with the manifest.
  private func tombstones(
    of bucket: Int, if counted: Manifest.Bucket, _ keys: ManifestKeys
  ) throws(StorageError) -> [(sequence: Int64, name: NameHash)]? {
    var actual = Manifest()
    var removals: [(sequence: Int64, name: NameHash)] = []
    do throws(StorageError) {
      try VaultRows.visit(bucket: bucket, connection) {
        (sequence, name, record) throws(StorageError) in
        if let record {
          try actual.add(record, name, keys)
        } else {
          removals.append((sequence, name))
        }
      }
    } catch {
      // A verification reports an unreadable row; the row does not stop a write.
      guard error.code == .damaged else { throw error }
      return nil
    }
    let found = actual.buckets[bucket]
    guard found.count == counted.count, found.sum == counted.sum, removals.count == counted.removals
    else {
      return nil
    }
    return removals
  }

  /// Forgets the older half of a bucket's tombstones when there are too many, if its rows agree
  /// with the manifest; else they stay, and a verification reports the difference.
  ///
  /// The time of a comparison grows with the rows of the bucket, but one comparison serves half as
  /// many removals as the bucket may have tombstones: so the time for each removal does not depend
  /// on the number of records.
  mutating func forgetRemovals() throws(StorageError) {
    guard let keys, manifest != nil else { return }
    for (bucket, added) in removalCounts() {
      guard let counted = manifest?.buckets[bucket] else { return }
      let limit = max(Self.removalLimit, counted.count)
      let before = counted.removals > added ? counted.removals - added : 0
      // If tombstones have to stay, the comparison is not repeated at each removal.
      guard counted.removals > limit, counted.removals / (limit / 2) != before / (limit / 2),
        var removals = try tombstones(of: bucket, if: counted, keys)
      else { continue }
      removals.sort { $0.sequence < $1.sequence }
      if horizon == nil { horizon = try VaultRows.stamps(connection).horizon }
      for (sequence, name) in removals.dropLast(Int(limit / 2)) {
        try VaultRows.forgetRemoval(sequence, connection)
        manifest?.takeRemoval(try RecordShare(ofRemoval: sequence, name, keys), name)
        horizon = max(horizon ?? 0, sequence)
      }
    }
  }

  /// An upper bound of the names that each bucket has lost in this transaction.
  private func removalCounts() -> [Int: UInt32] {
    var counts: [Int: UInt32] = [:]
    for change in changes where change.new.record == nil {
      counts[Manifest.bucket(of: change.name), default: 0] += 1
    }
    return counts
  }

  /// Forgets all tombstones, if all rows agree with the manifest.
  ///
  /// - Returns: whether the rows agree.
  mutating func forgetAllRemovals() throws(StorageError) -> Bool {
    guard let keys else { return true }
    sequence += 1
    isWholesale = true
    guard let counted = manifest, try Manifest.computed(connection, keys).agrees(with: counted)
    else {
      return false
    }
    manifest = counted.withoutRemovals
    try connection.statement("DELETE FROM record WHERE value IS NULL").run()
    return true
  }
}
