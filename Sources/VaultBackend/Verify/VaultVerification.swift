internal import CryptoCore
internal import StorageCore

/// Goes through a vault in one snapshot, and collects what is wrong.
struct VaultVerification {
  private struct Seen {
    /// The clear name, or what the caller expects under its hash.
    let key: String?
    let sum: UInt64
    let opens: Bool
  }

  /// A record that was looked at, and is not counted yet.
  private struct Looked {
    let clearName: String?
    let isUnderOldKey: Bool
    let share: RecordShare
  }

  private let inspector: RecordInspector
  private var findings: [VaultReport.Finding] = []
  /// The records by bucket.
  private var seen = [[Seen]](repeating: [], count: Manifest.bucketCount)
  private var actual = Manifest()
  /// How many records open although their bucket differs, because another record in it does not
  /// open.
  private var unknownCount = 0
  /// How many records open with a data key that no longer seals.
  private var oldKeyCount = 0
  /// The buckets that are as they were written.
  private var soundBuckets: Set<Int> = []
  /// Keys that the caller expects to be there, by their hashes.
  private var expected: [NameHash: String] = [:]
  private let keys: [StoreKey]
  /// The numbers of the rows that are no records.
  private var strays: [Int64] = []
  /// The names of the records that do not open.
  private(set) var closedNames: [NameHash] = []

  init(_ inspector: RecordInspector, expecting keys: [StoreKey]) throws(StorageError) {
    self.inspector = inspector
    self.keys = keys
    for key in keys { expected[try inspector.hash(of: key)] = key }
  }

  /// Looks at everything, in a transaction of the caller's.
  ///
  /// - Parameters:
  ///   - connection: sees the vault.
  ///   - keys: the keys of its manifest.
  ///   - latest: the latest commit that this process had seen before.
  ///   - progress: called now and then how many of all records are done.
  /// - Returns: what is not as it should be.
  /// - Throws: `StorageError` for an error that is not about the vault.
  mutating func run(
    _ connection: Connection, _ keys: ManifestKeys, latest: SeenCommits.Numbers,
    _ progress: ((Int, Int) -> Void)? = nil
  ) throws(StorageError) -> VaultReport {
    if let fault = try connection.fileFault() { add(.damagedFile, 0, [], fault) }
    var generation: UInt64?
    // Each check runs even if another one could not read something: otherwise somebody could hide a
    // changed record behind a row that can't be read.
    try noting { (_) throws(StorageError) in
      generation = UInt64(try VaultRows.stamps(connection).generation)
    }
    try checkRecords(connection, keys, progress)
    try noting { (this) throws(StorageError) in
      try VaultRows.visitRemovals(connection) { (sequence, name) throws(StorageError) in
        this.actual.addRemoval(try RecordShare(ofRemoval: sequence, name, keys), name)
      }
    }
    try noting { (this) throws(StorageError) in
      this.strays = try VaultRows.strays(connection)
    }
    try noting { (this) throws(StorageError) in
      let stored = try this.checkManifest(connection, keys, generation)
      let manifest = stored.map { Int64(clamping: $0.generation) }
      guard let generation else { return }
      this.checkPast(latest, .init(rows: Int64(clamping: generation), manifest: manifest))
    }
    reportStrays()
    reportDamaged()
    let sealedOtherwise = soundBuckets.reduce(0) { $0 + seen[$1].count { !$0.opens } }
    let unproven = unproven
    return VaultReport(
      generation: generation ?? 0, recordCount: seen.reduce(0) { $0 + $1.count },
      otherTagCount: sealedOtherwise, oldKeyCount: oldKeyCount, findings: findings,
      unprovenCount: unproven.count,
      unprovenKeys: unproven.compactMap { $0.opens ? $0.key : nil }.sorted(),
      evidence: try actual.digest(keys), strays: strays, expected: self.keys)
  }

  /// Runs a check.
  ///
  /// What it can't read becomes a finding; any other error is not about the vault.
  ///
  /// - Returns: whether all of it could be read.
  @discardableResult
  private mutating func noting(
    _ body: (inout VaultVerification) throws(StorageError) -> Void
  ) throws(StorageError) -> Bool {
    do throws(StorageError) {
      try body(&self)
      return true
    } catch {
      guard error.code == .damaged else { throw error }
      let isKnown = findings.contains { $0.kind == .damagedFile && $0.message == error.finding }
      if !isKnown { add(.damagedFile, 0, [], error.finding) }
      return false
    }
  }

  private mutating func add(
    _ kind: VaultReport.Finding.Kind, _ count: Int, _ keys: [String], _ message: String
  ) {
    findings.append(
      VaultReport.Finding(kind: kind, count: count, keys: keys.sorted(), message: message))
  }

  // MARK: - Records

  private mutating func checkRecords(
    _ connection: Connection, _ keys: ManifestKeys, _ progress: ((Int, Int) -> Void)?
  ) throws(StorageError) {
    var (done, total) = (0, 0)
    let beginning = self
    let isWhole = try noting { (this) throws(StorageError) in
      total = try VaultRows.count(connection)
      try VaultRows.visit(connection) { (name, record) throws(StorageError) in
        try this.check(record, name, keys)
        done += 1
        if done % 1024 == 0 { progress?(done, total) }
      }
    }
    if !isWhole {
      // Compares what a repair would find with the manifest, leaving out no record.
      let findings = findings
      self = beginning
      self.findings = findings
      var salvage = VaultSalvage(connection, RecordOpener(inspector))
      var looked: [NameKey: Looked] = [:]
      let inspector = inspector
      try salvage.run { (name, record) throws(StorageError) in
        looked[NameKey(name)] = try Self.look(at: record, name, keys, inspector)
      }
      for name in try salvage.compare() { looked[NameKey(name)] = nil }
      for (name, looked) in looked { count(looked, name.name) }
    }
    progress?(done, total)
  }

  private mutating func check(
    _ record: [UInt8], _ name: NameHash, _ keys: ManifestKeys
  ) throws(StorageError) {
    count(try Self.look(at: record, name, keys, inspector), name)
  }

  private static func look(
    at record: [UInt8], _ name: NameHash, _ keys: ManifestKeys, _ inspector: RecordInspector
  ) throws(StorageError) -> Looked {
    Looked(
      clearName: try inspector.clearName(of: record, under: name),
      isUnderOldKey: !inspector.isUnderPrimaryKey(record),
      share: try RecordShare(of: record, name, keys))
  }

  private mutating func count(_ looked: Looked, _ name: NameHash) {
    let opens = looked.clearName != nil
    if opens, looked.isUnderOldKey { oldKeyCount += 1 }
    if !opens { closedNames.append(name) }
    actual.add(looked.share, name)
    seen[Manifest.bucket(of: name)].append(
      Seen(key: looked.clearName ?? expected[name], sum: looked.share.bucket, opens: opens))
    expected[name] = nil
  }

  /// The records of the parts that are not as they were written.
  private var unproven: [Seen] {
    seen.indices.filter { !soundBuckets.contains($0) }.flatMap { seen[$0] }
  }

  private var damaged: [Seen] { unproven.filter { !$0.opens } }

  /// A record that does not open is damaged, unless the manifest says that it was written so: then
  /// it was sealed with another authentication tag.
  private mutating func reportDamaged() {
    let damaged = damaged
    guard !damaged.isEmpty else { return }
    let subject = damaged.count == 1 ? "1 record does" : "\(damaged.count) records do"
    let unknown =
      unknownCount == 1
      ? "1 more record is the latest version"
      : "\(unknownCount) more records are the latest versions"
    add(
      .damagedRecord, damaged.count, damaged.compactMap(\.key),
      "\(subject) not open: altered, moved, or sealed with another value of the argument "
        + "authenticationTag"
        + (unknownCount == 0 ? "" : "; it is unknown whether \(unknown)"))
  }

  /// At most this many rows are named by their numbers.
  private static let namedRows = 8

  /// A row that is no record hides nothing, and has no name or value to lose.
  private mutating func reportStrays() {
    guard !strays.isEmpty else { return }
    let numbers = strays.prefix(Self.namedRows).map(String.init).joined(separator: ", ")
    let more = strays.count > Self.namedRows ? " and others" : ""
    add(
      .strayRow, strays.count, [],
      (strays.count == 1
        ? "1 row is not a valid record. No program with the keys wrote it: row number "
        : "\(strays.count) rows are not valid records. No program with the keys wrote them: row numbers ")
        + "\(numbers)\(more)")
  }

  // MARK: - The manifest

  /// - Returns: the manifest, if it could be read.
  private mutating func checkManifest(
    _ connection: Connection, _ keys: ManifestKeys, _ generation: UInt64?
  ) throws(StorageError) -> Manifest? {
    let stored = try Manifest.stored(in: connection, keys)
    guard let manifest = stored else {
      add(.alteredManifest, 0, [], "the manifest was altered or removed, or belongs to other keys")
      return nil
    }
    if let generation, manifest.generation != generation {
      add(
        .alteredManifest, 0, [],
        "the manifest belongs to commit \(manifest.generation), but the records to commit "
          + "\(generation)")
    }
    let buckets = 0..<Manifest.bucketCount
    let differing = buckets.filter {
      let (stored, found) = (manifest.buckets[$0], actual.buckets[$0])
      return stored.count != found.count || stored.sum != found.sum
    }
    soundBuckets = Set(buckets).subtracting(differing)
    for index in differing { compare(index, manifest.buckets[index]) }
    if differing.isEmpty, !manifest.hasRecords(of: actual) {
      add(.alteredManifest, 0, [], "the manifest's sums contradict each other")
    }
    if !manifest.hasRemovals(of: actual) { compareRemovals(manifest) }
    return manifest
  }

  /// If the record of a removed name was put back, the removal is gone, since a name has one row:
  /// that is reported as an added record.
  private mutating func compareRemovals(_ manifest: Manifest) {
    var (missing, surplus, isExplained) = (0, 0, false)
    var keys: [String] = []
    for index in 0..<Manifest.bucketCount {
      let (stored, found) = (manifest.buckets[index], actual.buckets[index])
      let added = max(0, Int(found.count) - Int(stored.count))
      let difference = Int(stored.removals) - Int(found.removals)
      if difference > added {
        missing += difference - added
        keys += seen[index].compactMap(\.key)
      }
      surplus += max(0, -difference)
      isExplained = isExplained || difference > 0 && difference <= added
    }
    let message =
      if missing > 0 {
        "\(Self.happened(missing, "removal", "undone")): a removed value may be back"
      } else if surplus > 0 {
        "\(Self.happened(surplus, "removal", "added")). No program with the keys did this"
      } else {
        "at least one removal was altered"
      }
    guard missing > 0 || surplus > 0 || !isExplained else { return }
    add(.alteredRemoval, max(1, missing + surplus), keys, message)
  }

  /// "1 removal was undone", or "2 removals were undone".
  private static func happened(_ count: Int, _ noun: String, _ verb: String) -> String {
    count == 1 ? "1 \(noun) was \(verb)" : "\(count) \(noun)s were \(verb)"
  }

  private mutating func checkPast(_ latest: SeenCommits.Numbers, _ now: SeenCommits.Numbers) {
    guard let way = latest.isAhead(of: now) else { return }
    add(
      .rolledBackVault, 0, [],
      "the vault is at commit \(way.to), but this program has seen commit \(way.from): the vault was "
        + "replaced by an older version")
  }

  private mutating func compare(_ index: Int, _ should: Manifest.Bucket) {
    let (records, sum) = (seen[index], actual.buckets[index].sum)
    let surplus = records.count - Int(should.count)
    // The bucket differs because of the damaged record, which is reported as such.
    if surplus == 0, records.contains(where: { !$0.opens }) {
      unknownCount += records.count(where: \.opens)
      return
    }
    if surplus < 0 {
      let missing = expected.filter { Manifest.bucket(of: $0.key) == index }.map(\.value)
      add(
        .deletedRecord, -surplus, missing,
        (surplus == -1 ? "1 record is missing" : "\(-surplus) records are missing")
          + ". No program with the keys removed \(surplus == -1 ? "it" : "them")")
    } else if surplus > 0 {
      // If exactly one record is too much, it is the one that makes the difference.
      let culprit = records.filter { surplus == 1 && sum &- $0.sum == should.sum }
      add(
        .addedRecord, surplus, (culprit.isEmpty ? records : culprit).compactMap(\.key),
        "\(Self.happened(surplus, "record", "added")). No program with the keys did this")
    } else {
      add(
        .rolledBackRecord, 1, records.compactMap(\.key),
        "at least one record is not the latest version")
    }
  }
}
