internal import CryptoCore
internal import StorageCore

/// Figures about a vault's content that can't be forged: docs/file-format.md, section "Manifest".
///
/// The manifest changes in the transaction that changes the records. The sums show if a record was
/// removed, put back in an older state, or brought in from elsewhere; nobody can compute them
/// without the keys. Removals by somebody with the keys are counted as well.
struct Manifest: Hashable {
  /// The first six bits of a name hash choose the record's bucket.
  static let bucketCount = 64

  /// The records of one bucket.
  struct Bucket: Hashable {
    var count: UInt32 = 0
    var sum: UInt64 = 0
    /// How many names have a tombstone.
    var removals: UInt32 = 0

    /// Adds a record's share with the mask 0, and subtracts it with `.max`.
    mutating func change(_ share: UInt64, mask: UInt64) {
      count &+= UInt32(truncatingIfNeeded: mask | 1)
      sum &+= (share ^ mask) &+ (mask & 1)
    }
  }

  /// A number of shares, and their sum.
  struct Tally: Hashable {
    var count: UInt64 = 0
    /// Modulo 2^256, least significant word first.
    var sum = SIMD4<UInt64>()

    /// Adds a share with the mask 0, and subtracts it with `.max`: the mask makes the complement,
    /// to which one is added.
    mutating func change(_ share: RecordShare, mask: UInt64) {
      var carry = mask & 1
      for index in 0..<4 {
        let (partial, first) = sum[index].addingReportingOverflow(share.number[index] ^ mask)
        let (whole, second) = partial.addingReportingOverflow(carry)
        sum[index] = whole
        carry = first || second ? 1 : 0
      }
      count &+= mask | 1
    }
  }

  /// The sequence number of the last commit.
  var generation: UInt64 = 0
  private(set) var records = Tally()
  private(set) var removals = Tally()
  private(set) var buckets = [Bucket](repeating: Bucket(), count: bucketCount)

  /// How many records there are.
  var count: UInt64 { records.count }

  /// The manifest of an empty vault.
  init() {}

  /// A manifest with known figures.
  init(generation: UInt64, records: Tally, removals: Tally, buckets: [Bucket]) {
    self.generation = generation
    self.records = records
    self.removals = removals
    self.buckets = buckets
  }

  /// The bucket of a name.
  static func bucket(of name: NameHash) -> Int {
    Int(UInt64(bigEndian: name.words[0]) >> 58)
  }

  // MARK: - Records

  /// Adds a record.
  mutating func add(
    _ record: [UInt8], _ name: NameHash, _ keys: ManifestKeys
  ) throws(StorageError) {
    add(try RecordShare(of: record, name, keys), name)
  }

  /// Adds a record by its share.
  mutating func add(_ share: RecordShare, _ name: NameHash) {
    change(share, name, mask: 0)
  }

  /// Takes a record away.
  mutating func remove(
    _ record: [UInt8], _ name: NameHash, _ keys: ManifestKeys
  ) throws(StorageError) {
    remove(try RecordShare(of: record, name, keys), name)
  }

  /// Takes a record away by its share.
  mutating func remove(_ share: RecordShare, _ name: NameHash) {
    change(share, name, mask: .max)
  }

  private mutating func change(_ share: RecordShare, _ name: NameHash, mask: UInt64) {
    records.change(share, mask: mask)
    buckets[Self.bucket(of: name)].change(share.bucket, mask: mask)
  }

  // MARK: - Removals

  /// Adds the tombstone of a name.
  mutating func addRemoval(_ share: RecordShare, _ name: NameHash) {
    removals.change(share, mask: 0)
    buckets[Self.bucket(of: name)].removals &+= 1
  }

  /// Takes the tombstone of a name away.
  mutating func takeRemoval(_ share: RecordShare, _ name: NameHash) {
    removals.change(share, mask: .max)
    buckets[Self.bucket(of: name)].removals &-= 1
  }

  /// The same without any tombstone.
  var withoutRemovals: Manifest {
    var manifest = self
    manifest.removals = Tally()
    for index in buckets.indices { manifest.buckets[index].removals = 0 }
    return manifest
  }

  // MARK: - Comparing

  /// Whether two manifests count the same records, whatever they say about removals.
  func hasRecords(of other: Manifest) -> Bool {
    records == other.records
      && buckets.indices.allSatisfy {
        buckets[$0].count == other.buckets[$0].count && buckets[$0].sum == other.buckets[$0].sum
      }
  }

  /// Whether two manifests count the same removals.
  func hasRemovals(of other: Manifest) -> Bool {
    removals == other.removals
      && buckets.indices.allSatisfy { buckets[$0].removals == other.buckets[$0].removals }
  }

  /// Whether two manifests count the same records and removals.
  func agrees(with other: Manifest) -> Bool { hasRecords(of: other) && hasRemovals(of: other) }

  /// The manifest computed from the rows as they are, whatever the stored manifest says.
  ///
  /// - Parameters:
  ///   - connection: the vault's file, in a transaction of the caller's.
  ///   - keys: hash the rows.
  /// - Returns: the manifest.
  /// - Throws: `StorageError` when a row can't be read or hashed.
  static func computed(
    _ connection: Connection, _ keys: ManifestKeys
  ) throws(StorageError) -> Manifest {
    var manifest = Manifest()
    try VaultRows.visit(connection) { (name, record) throws(StorageError) in
      try manifest.add(record, name, keys)
    }
    try VaultRows.visitRemovals(connection) { (sequence, name) throws(StorageError) in
      manifest.addRemoval(try RecordShare(ofRemoval: sequence, name, keys), name)
    }
    return manifest
  }
}
