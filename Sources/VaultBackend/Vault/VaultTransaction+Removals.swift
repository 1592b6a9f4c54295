internal import CryptoCore
internal import StorageCore

// A removal leaves a tombstone, which the manifest counts. A name has one row: where somebody hid a
// record while it was removed, record and tombstone can't both be there, and the manifest wants both.
extension VaultTransaction {
  /// Tombstones of a bucket are forgotten when there are more than this, and more than it has records.
  private static let removalLimit: UInt32 = 32
  /// A bucket of no more rows is compared with the manifest in less time than a commit takes.
  private static let fewRows: UInt32 = 64

  /// Whether the removal of a name that has no record needs no tombstone of its own: that there is none
  /// is what the manifest says too, so somebody who hid one can't put it back unnoticed.
  mutating func isSettled(_ name: NameHash, _ old: Replaced) throws(StorageError) -> Bool {
    guard let keys, manifest != nil else { return true }
    // The one that is there was written by this process, and the manifest has it.
    if case .removal(_, .some) = old { return true }
    let bucket = Manifest.bucket(of: name)
    if settled & 1 << bucket != 0 { return true }
    // The manifest is to be of the rows, and the other way round.
    try writeRows()
    try account()
    guard let told = manifest?.buckets[bucket], told.count &+ told.removals <= Self.fewRows,
      try tombstones(of: bucket, if: told, keys) != nil
    else { return false }
    settled |= 1 << bucket
    return true
  }

  /// The tombstones of a bucket, or nil when its rows are not those that the manifest tells of.
  private func tombstones(
    of bucket: Int, if told: Manifest.Bucket, _ keys: ManifestKeys
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
      // A row that can't be read is for a verification to tell, and no reason not to write.
      guard error.code == .damaged else { throw error }
      return nil
    }
    let found = actual.buckets[bucket]
    guard found.count == told.count, found.sum == told.sum, removals.count == told.removals else {
      return nil
    }
    return removals
  }

  /// Forgets the older half of a bucket's tombstones when there are too many, if its records are those
  /// that the manifest tells of; else they stay, and a verification tells.
  ///
  /// To compare takes as long as there are rows in the bucket, and is done once in half as many removals
  /// as it may have tombstones: the time for each removal is the same, however many records there are.
  mutating func forgetRemovals() throws(StorageError) {
    guard let keys, manifest != nil else { return }
    for (bucket, added) in removalCounts() {
      guard let told = manifest?.buckets[bucket] else { return }
      let limit = max(Self.removalLimit, told.count)
      let before = told.removals > added ? told.removals - added : 0
      // Where they have to stay, not with each removal.
      guard told.removals > limit, told.removals / (limit / 2) != before / (limit / 2),
        var removals = try tombstones(of: bucket, if: told, keys)
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

  /// How many names each bucket has lost here, at most.
  private func removalCounts() -> [Int: UInt32] {
    var counts: [Int: UInt32] = [:]
    for change in changes where change.new.record == nil {
      counts[Manifest.bucket(of: change.name), default: 0] += 1
    }
    return counts
  }

  /// Forgets all tombstones, if all rows are those that the manifest tells of.
  ///
  /// - Returns: whether they are.
  mutating func forgetAllRemovals() throws(StorageError) -> Bool {
    guard let keys else { return true }
    sequence += 1
    isWholesale = true
    guard let told = manifest, try Manifest.computed(connection, keys).agrees(with: told) else {
      return false
    }
    manifest = told.withoutRemovals
    try connection.statement("DELETE FROM record WHERE value IS NULL").run()
    return true
  }
}
