internal import CryptoCore
internal import StorageCore

/// Reads what can still be read of a vault whose file is broken.
///
/// Each row has its name twice, in the table and in the index, on different pages: a record is
/// taken under the name that it opens under. A record that opens under neither may be of another
/// authentication tag, so it is taken under both. The manifest says which records are not proven.
struct VaultSalvage {
  /// Is handed a record to take for a name, in the place of an earlier one.
  typealias Taking = (NameHash, [UInt8]) throws(StorageError) -> Void

  /// What a salvage took.
  struct Result {
    /// How many records were taken that open.
    var opened = 0
    /// How many records were taken that do not open.
    var closed = 0
    /// How many of those that do not open are under a retired data key.
    var setAside = 0
    /// How many records, of both kinds, the manifest does not prove to be the ones written last.
    var unproven = 0
    /// The key names of the unproven records that open.
    var unprovenKeys: [String] = []
  }

  /// The record that was taken for a name.
  struct Taken {
    let sequence: Int64
    /// What it adds to the sum of its bucket, where there is a manifest to compare.
    let share: UInt64
    /// Nil for a record that does not open.
    let clearName: String?
    let isSetAside: Bool
    /// Whether it opens under neither of its names, and was taken under both.
    let isDouble: Bool
  }

  let source: Connection
  let opener: RecordOpener
  /// What the index says, by sequence number.
  private var entries: [(sequence: Int64, name: NameHash)] = []
  private var rows: Set<Int64> = []
  private var taken: [NameKey: Taken] = [:]
  /// The names of records that the manifest does not prove.
  private var unproven: [NameKey] = []

  /// What was taken.
  var result: Result {
    var result = Result()
    for taken in taken.values {
      result.opened += taken.clearName == nil ? 0 : 1
      result.closed += taken.clearName == nil ? 1 : 0
      result.setAside += taken.isSetAside ? 1 : 0
    }
    result.unproven = unproven.count
    result.unprovenKeys = unproven.compactMap { taken[$0]?.clearName }.sorted()
    return result
  }

  init(_ source: Connection, _ opener: RecordOpener) {
    self.source = source
    self.opener = opener
  }

  /// The header, which leads to the keys.
  ///
  /// - Throws: `damaged` when it can't be read.
  static func header(of source: Connection) throws(StorageError) -> [UInt8] {
    guard let header = try VaultRows.header(source) else {
      throw StorageError(
        .damaged, "the vault's header can't be read; restore it from a backup", path: source.path)
    }
    return header
  }

  /// Makes a vault in an empty file of every row that can be read, with a manifest of what it
  /// holds.
  ///
  /// - Parameters:
  ///   - source: the broken file, which nobody else can change.
  ///   - destination: the empty file.
  ///   - opener: what opens the records by the header of `source`.
  ///   - latest: the number of the latest known commit of the vault.
  ///   - droppingUnreadable: whether rows that do not open are left out.
  /// - Returns: what was taken.
  /// - Throws: `damaged` when the header can't be read, or why the keys can't be opened.
  static func copy(
    _ source: Connection, to destination: Connection, openedBy opener: RecordOpener,
    beyond latest: Int64, droppingUnreadable: Bool
  ) throws(StorageError) -> Result {
    // Records under an ending key may be forged by the person who stole it.
    let (header, opener) = try opener.retiringEndingKeys(in: source)
    guard let keys = opener.manifestKeys else {
      throw StorageError(.io, "a header has no keys; this is a bug", path: source.path)
    }
    try VaultSchema.create(destination)
    try destination.beginWriting()
    defer { destination.rollBack() }
    try VaultRows.setMeta(VaultSchema.Row.header, header, sequence: 0, destination)
    // Numbered anew, since the old numbers may be what is broken.
    let stored = try manifest(of: source, keys)
    var last = VaultRows.number(
      farBeyond: latest, try lastNumber(of: source), Int64(clamping: stored?.generation ?? 0))
    var salvage = VaultSalvage(source, opener)
    try salvage.run { (name, record) throws(StorageError) in
      last += 1
      try VaultRows.set(record, for: name, sequence: last, destination)
    }
    for name in try salvage.compare() { try remove(name, from: destination) }
    if droppingUnreadable {
      for (name, taken) in salvage.taken where taken.clearName == nil {
        try remove(name.name, from: destination)
      }
    }
    // Nobody knows which records are lost, so every process has to read everything again.
    try VaultCopy.number(last + 1, destination, keys)
    try destination.commit()
    return salvage.result
  }

  private static func remove(
    _ name: NameHash, from destination: Connection
  ) throws(StorageError) {
    try destination.statement("DELETE FROM record WHERE name = ?1").run(.blob(name.bytes))
  }

  /// The manifest of a broken file, or nil when it can't be read.
  static func manifest(
    of source: Connection, _ keys: ManifestKeys
  ) throws(StorageError) -> Manifest? {
    var manifest: Manifest?
    try skippingDamage { () throws(StorageError) in
      manifest = try Manifest.stored(in: source, keys)
    }
    return manifest
  }

  /// The number of the last commit of a file that may be broken; 0 where it can't be read.
  static func lastNumber(of source: Connection) throws(StorageError) -> Int64 {
    var number: Int64 = 0
    try skippingDamage { () throws(StorageError) in
      number = try VaultRows.stamps(source).generation
    }
    return number
  }

  /// Hands every record that can be read to `take`, under a name that it opens under, if any.
  ///
  /// Of several records of a name that open, the one with the greatest number stays.
  ///
  /// - Throws: what `take` throws, or `StorageError` for an error that is not about the records.
  mutating func run(_ take: Taking) throws(StorageError) {
    try readIndex()
    // By the table from both ends, and then by the index.
    if try !readTable("ASC", take) { _ = try readTable("DESC", take) }
    for (sequence, name) in entries where !rows.contains(sequence) {
      try Self.skippingDamage { () throws(StorageError) in try read(sequence, name, take) }
    }
  }

  /// Compares the records that were taken with the manifest, bucket by bucket.
  ///
  /// - Returns: the names that the manifest proves to be damaged ones, whose records are under
  ///   another name as well.
  mutating func compare() throws(StorageError) -> [NameHash] {
    guard let keys = opener.manifestKeys else { return [] }
    let stored = try Self.manifest(of: source, keys)?.buckets
    var found = [Manifest.Bucket](repeating: Manifest.Bucket(), count: Manifest.bucketCount)
    for (name, taken) in taken {
      found[Manifest.bucket(of: name.name)].change(taken.share, mask: 0)
    }
    func isProven(_ bucket: Int) -> Bool {
      stored?[bucket].count == found[bucket].count && stored?[bucket].sum == found[bucket].sum
    }
    var dropped: [NameHash] = []
    for (name, double) in taken where double.isDouble {
      let bucket = Manifest.bucket(of: name.name)
      found[bucket].change(double.share, mask: .max)
      if isProven(bucket) {
        taken[name] = nil
        dropped.append(name.name)
      } else {
        found[bucket].change(double.share, mask: 0)
      }
    }
    unproven = taken.keys.filter { !isProven(Manifest.bucket(of: $0.name)) }
    return dropped
  }

  private mutating func readIndex() throws(StorageError) {
    var entries: [(sequence: Int64, name: NameHash)] = []
    for isDescending in [false, true] {
      let isWhole = try Self.skippingDamage { () throws(StorageError) in
        try VaultRows.visitIndex(source, descending: isDescending) { entries.append(($0, $1)) }
      }
      if isWhole { break }
    }
    self.entries = entries.sorted { $0.sequence < $1.sequence }
  }

  /// - Returns: whether it came to the other end.
  private mutating func readTable(
    _ order: String, _ take: Taking
  ) throws(StorageError) -> Bool {
    try Self.skippingDamage { () throws(StorageError) in
      try source.statement(
        once:
          "SELECT sequence, name, value FROM record WHERE typeof(value) = 'blob' "
          + "AND length(value) <= \(VaultSchema.recordLimit) ORDER BY sequence " + order
      ).run { (row) throws(StorageError) in
        let sequence = row.integer(0)
        rows.insert(sequence)
        if let record = VaultRows.readable(row, 2) {
          let name = VaultRows.readable(row, 1).flatMap { NameHash($0) }
          try offer(record, name, sequence, take)
        }
        return true
      }
    }
  }

  /// Reads a row that the table did not lead to.
  private mutating func read(
    _ sequence: Int64, _ name: NameHash, _ take: Taking
  ) throws(StorageError) {
    try source.statement("SELECT value FROM record WHERE sequence = ?1").run(.integer(sequence)) {
      (row) throws(StorageError) in
      rows.insert(sequence)
      if let record = VaultRows.readable(row, 0) { try offer(record, name, sequence, take) }
      return false
    }
  }

  private mutating func offer(
    _ record: [UInt8], _ name: NameHash?, _ sequence: Int64, _ take: Taking
  ) throws(StorageError) {
    if let name, hasOpened(name, sequence) { return }
    let others = indexNames(of: sequence).filter { $0 != name && !hasOpened($0, sequence) }
    let names = (name.map { [$0] } ?? []) + others
    for name in names {
      guard let clearName = try opener.clearName(of: record, under: name) else { continue }
      return try keep(record, name, sequence, clearName, take)
    }
    for name in names where taken[NameKey(name)] == nil {
      try keep(record, name, sequence, nil, isDouble: names.count > 1, take)
    }
  }

  /// Whether a record of this name that opens was taken, with this number or a greater one.
  private func hasOpened(_ name: NameHash, _ sequence: Int64) -> Bool {
    guard let taken = taken[NameKey(name)], taken.clearName != nil else { return false }
    return taken.sequence >= sequence
  }

  /// Takes a record in the place of any other of its name.
  private mutating func keep(
    _ record: [UInt8], _ name: NameHash, _ sequence: Int64, _ clearName: String?,
    isDouble: Bool = false, _ take: Taking
  ) throws(StorageError) {
    let share = try opener.manifestKeys.map { (keys) throws(StorageError) in
      try RecordShare(of: record, name, keys).bucket
    }
    taken[NameKey(name)] = Taken(
      sequence: sequence, share: share ?? 0, clearName: clearName,
      isSetAside: clearName == nil && opener.isSetAside(record), isDouble: isDouble)
    try take(name, record)
  }

  /// The names that the index has for a row.
  private func indexNames(of sequence: Int64) -> [NameHash] {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].sequence < sequence { low = middle + 1 } else { high = middle }
    }
    return entries[low...].prefix { $0.sequence == sequence }.map(\.name)
  }

  /// - Returns: whether it was read without meeting damage.
  @discardableResult
  static func skippingDamage(
    _ body: () throws(StorageError) -> Void
  ) throws(StorageError) -> Bool {
    do throws(StorageError) {
      try body()
      return true
    } catch {
      guard error.code == .damaged else { throw error }
      return false
    }
  }
}
