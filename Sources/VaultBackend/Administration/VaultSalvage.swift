internal import CryptoCore
internal import StorageCore

/// Reads what can still be read of a vault whose file is broken.
///
/// Each row has its name twice, in the table and in the index, on different pages: a record is taken
/// under the one that it opens under. One that opens under neither may be of another authentication
/// tag, so it is taken under both.
struct VaultSalvage {
  typealias Taking = (NameHash, [UInt8]) throws(StorageError) -> Void

  private let source: Connection
  private let opener: RecordOpener
  /// What the index says, by sequence number.
  private var entries: [(sequence: Int64, name: NameHash)] = []
  private var rows: Set<Int64> = []
  private var opened: Set<NameKey> = []
  private var closed: Set<NameKey> = []

  /// How many records were taken that open.
  var openedCount: Int { opened.count }
  /// How many records were taken that do not.
  var closedCount: Int { closed.count }

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

  /// Copies every row that can be read into an empty file.
  ///
  /// - Throws: `damaged` when the header can't be read, or why the keys can't be opened.
  static func copy(
    _ source: Connection, to destination: Connection, openedBy opener: RecordOpener
  ) throws(StorageError) {
    let header = try header(of: source)
    let opener = try opener.following(source)
    try VaultSchema.create(destination)
    try destination.beginWriting()
    defer { destination.rollBack() }
    try VaultRows.setMeta(VaultSchema.Row.header, header, sequence: 0, destination)
    // Numbered anew, since the old numbers may be what is broken.
    var last: Int64 = 0
    var salvage = VaultSalvage(source, opener)
    try salvage.run { (name, record) throws(StorageError) in
      last += 1
      try VaultRows.set(record, for: name, sequence: last, destination)
    }
    // What is gone is not known, so every process has to read everything anew.
    last += 1
    var manifest: [UInt8] = []
    try skippingDamage { () throws(StorageError) in manifest = try VaultRows.manifest(source) }
    try VaultRows.setMeta(VaultSchema.Row.manifest, manifest, sequence: last, destination)
    try VaultRows.setMeta(VaultSchema.Row.horizon, [], sequence: last, destination)
    try destination.commit()
  }

  /// Hands every record that can be read to `take`, under a name that it opens under, if any.
  ///
  /// A later record of the same name is to replace the earlier, which did not open.
  mutating func run(_ take: Taking) throws(StorageError) {
    try readIndex()
    // By the table from both ends, and then by the index.
    if try !readTable("ASC", take) { try readTable("DESC", take) }
    for (sequence, name) in entries
    where !rows.contains(sequence) && !opened.contains(NameKey(name)) {
      try Self.skippingDamage { () throws(StorageError) in try read(sequence, name, take) }
    }
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
  @discardableResult
  private mutating func readTable(
    _ order: String, _ take: Taking
  ) throws(StorageError) -> Bool {
    try Self.skippingDamage { () throws(StorageError) in
      try source.statement(
        once:
          "SELECT sequence, name, value FROM record WHERE value IS NOT NULL ORDER BY sequence "
          + order
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
      if let record = VaultRows.readable(row, 0) { try offer(record, name, sequence, take) }
      return false
    }
  }

  private mutating func offer(
    _ record: [UInt8], _ name: NameHash?, _ sequence: Int64, _ take: Taking
  ) throws(StorageError) {
    if let name {
      if opened.contains(NameKey(name)) { return }
      if try opener.opens(record, under: name) { return try keep(record, name, take) }
    }
    let others = indexNames(of: sequence).filter { $0 != name && !opened.contains(NameKey($0)) }
    for other in others where try opener.opens(record, under: other) {
      return try keep(record, other, take)
    }
    for name in others + (name.map { [$0] } ?? [])
    where closed.insert(NameKey(name)).inserted {
      try take(name, record)
    }
  }

  private mutating func keep(
    _ record: [UInt8], _ name: NameHash, _ take: Taking
  ) throws(StorageError) {
    opened.insert(NameKey(name))
    closed.remove(NameKey(name))
    try take(name, record)
  }

  /// What the index calls a row.
  private func indexNames(of sequence: Int64) -> [NameHash] {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].sequence < sequence { low = middle + 1 } else { high = middle }
    }
    return entries[low...].prefix { $0.sequence == sequence }.map(\.name)
  }

  /// - Returns: whether no damage ended it.
  @discardableResult
  private static func skippingDamage(
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
