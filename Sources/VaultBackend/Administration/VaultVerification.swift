internal import CryptoCore
internal import StorageCore

/// Goes through a vault, in one snapshot of it, and gathers what does not fit.
struct VaultVerification {
  private struct Seen {
    /// The clear name, or what the caller expects under its hash.
    let key: String?
    let sum: UInt64
    let opens: Bool
  }

  private let inspector: RecordInspector
  private var findings: [VaultReport.Finding] = []
  /// The records by bucket.
  private var seen = [[Seen]](repeating: [], count: Manifest.bucketCount)
  private var actual = Manifest()
  /// How many records open whose bucket differs anyway, since another one does not.
  private var unknownCount = 0
  /// How many records open by a data key that seals no more.
  private var oldKeyCount = 0
  /// The buckets that are as they were written.
  private var soundBuckets: Set<Int> = []
  /// Keys that the caller expects to be there, by their hashes.
  private var expected: [NameHash: String] = [:]

  init(_ inspector: RecordInspector, expecting keys: [StoreKey]) throws(StorageError) {
    self.inspector = inspector
    for key in keys { expected[try inspector.hash(of: key)] = key }
  }

  /// Looks at everything, in a transaction of the caller's.
  mutating func run(
    _ connection: Connection, _ keys: ManifestKeys, _ progress: ((Int, Int) -> Void)?
  ) throws(StorageError) -> VaultReport {
    if let fault = try connection.fileFault() { add(.damagedFile, 0, [], fault) }
    var generation: UInt64 = 0
    do throws(StorageError) {
      generation = UInt64(try VaultRows.stamps(connection).generation)
      let total = try VaultRows.count(connection)
      try checkRecords(connection, keys, total, progress)
      try checkManifest(connection, keys, generation)
    } catch {
      // What could not be read is part of the answer; any other error is not about the vault.
      guard error.code == .damaged else { throw error }
      add(.damagedFile, 0, [], error.finding)
    }
    reportDamaged()
    let sealedOtherwise = soundBuckets.reduce(0) { $0 + seen[$1].count { !$0.opens } }
    return VaultReport(
      generation: generation, recordCount: seen.reduce(0) { $0 + $1.count },
      otherTagCount: sealedOtherwise, oldKeyCount: oldKeyCount, findings: findings)
  }

  private mutating func add(
    _ kind: VaultReport.Finding.Kind, _ count: Int, _ keys: [String], _ message: String
  ) {
    findings.append(
      VaultReport.Finding(kind: kind, count: count, keys: keys.sorted(), message: message))
  }

  // MARK: - Records

  private mutating func checkRecords(
    _ connection: Connection, _ keys: ManifestKeys, _ total: Int,
    _ progress: ((Int, Int) -> Void)?
  ) throws(StorageError) {
    var done = 0
    try VaultRows.visit(connection) { (name, record) throws(StorageError) in
      try check(record, name, keys)
      done += 1
      if done % 1024 == 0 { progress?(done, total) }
    }
    progress?(done, total)
  }

  private mutating func check(
    _ record: [UInt8], _ name: NameHash, _ keys: ManifestKeys
  ) throws(StorageError) {
    let found = try inspector.clearName(of: record, under: name)
    if found != nil, !inspector.isUnderPrimaryKey(record) { oldKeyCount += 1 }
    let bucket = Manifest.bucket(of: name)
    let before = actual.buckets[bucket].sum
    try actual.add(record, name, keys)
    seen[bucket].append(
      Seen(
        key: found ?? expected[name], sum: actual.buckets[bucket].sum &- before,
        opens: found != nil))
    expected[name] = nil
  }

  private var damaged: [Seen] {
    seen.indices.filter { !soundBuckets.contains($0) }.flatMap { seen[$0].filter { !$0.opens } }
  }

  /// A record that does not open is damaged, unless the manifest says that it was written so: then
  /// it was sealed with another authentication tag.
  private mutating func reportDamaged() {
    let damaged = damaged
    guard !damaged.isEmpty else { return }
    let subject = damaged.count == 1 ? "1 record does" : "\(damaged.count) records do"
    let unknown = unknownCount == 1 ? "1 other is" : "\(unknownCount) others are"
    add(
      .damagedRecord, damaged.count, damaged.compactMap(\.key),
      "\(subject) not open: altered, moved, or sealed with another authentication tag"
        + (unknownCount == 0
          ? "" : "; so it can't be known whether \(unknown) what was written last"))
  }

  // MARK: - The manifest

  private mutating func checkManifest(
    _ connection: Connection, _ keys: ManifestKeys, _ generation: UInt64
  ) throws(StorageError) {
    let manifest: Manifest
    do throws(StorageError) {
      manifest = try Manifest(reading: try VaultRows.manifest(connection), keys)
    } catch {
      guard error.code == .damaged else { throw error }
      return add(.alteredManifest, 0, [], "the manifest was altered, removed, or is of other keys")
    }
    if manifest.generation != generation {
      add(
        .alteredManifest, 0, [],
        "the manifest is of commit \(manifest.generation), the records of \(generation)")
    }
    let buckets = 0..<Manifest.bucketCount
    let differing = buckets.filter { manifest.buckets[$0] != actual.buckets[$0] }
    soundBuckets = Set(buckets).subtracting(differing)
    guard !manifest.agrees(with: actual) else { return }
    for index in differing { compare(index, manifest.buckets[index]) }
    if differing.isEmpty {
      add(.alteredManifest, 0, [], "the manifest's sums contradict each other")
    }
  }

  private mutating func compare(_ index: Int, _ should: Manifest.Bucket) {
    let (records, sum) = (seen[index], actual.buckets[index].sum)
    let surplus = records.count - Int(should.count)
    // A damaged record is why its bucket differs, and is told of as such.
    if surplus == 0, records.contains(where: { !$0.opens }) {
      unknownCount += records.count(where: \.opens)
      return
    }
    if surplus < 0 {
      let missing = expected.filter { Manifest.bucket(of: $0.key) == index }.map(\.value)
      add(
        .deletedRecord, -surplus, missing,
        "\(-surplus) missing that nobody with the keys removed")
    } else if surplus > 0 {
      // A single one that is too much is the one that makes the difference.
      let culprit = records.filter { surplus == 1 && sum &- $0.sum == should.sum }
      add(
        .addedRecord, surplus, (culprit.isEmpty ? records : culprit).compactMap(\.key),
        "\(surplus) too many, which nobody with the keys put there")
    } else {
      add(
        .rolledBackRecord, 1, records.compactMap(\.key),
        "at least one record is not what was written last")
    }
  }
}
