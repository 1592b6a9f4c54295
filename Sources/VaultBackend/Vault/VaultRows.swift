internal import CryptoCore
internal import StorageCore

/// What is read of and written to a vault's tables, in a transaction of the caller's.
enum VaultRows {
  /// The sequence numbers that tell what has changed.
  struct Stamps {
    /// Of the last commit.
    var generation: Int64 = 0
    /// Up to here, removals are no longer remembered.
    var horizon: Int64 = 0
    /// Of the commit that wrote the header; 0 where there is none.
    var header: Int64 = 0
  }

  /// Sequence numbers end here.
  static let sequenceLimit = Int64.max / 2
  /// What is greater was not counted: so far below the end that what is written over it has room.
  private static let countableLimit = sequenceLimit - (1 << 40)

  /// The sequence numbers.
  ///
  /// - Throws: `damaged` when they can't be ours.
  static func stamps(_ connection: Connection) throws(StorageError) -> Stamps {
    var found: [Int64: Int64] = [:]
    var last: Int64 = 0
    try connection.statement("SELECT id, sequence FROM meta WHERE id <= 3").run {
      found[$0.integer(0)] = $0.integer(1)
      return true
    }
    try connection.statement("SELECT max(sequence) FROM record").run {
      last = $0.integer(0)
      return true
    }
    guard let generation = found[VaultSchema.Row.manifest],
      let horizon = found[VaultSchema.Row.horizon],
      (0..<countableLimit).contains(generation), (0...generation).contains(horizon),
      last < countableLimit
    else {
      throw StorageError(
        .damaged, "the vault's sequence numbers contradict each other; verify and repair it",
        path: connection.path)
    }
    return Stamps(
      generation: max(generation, last), horizon: horizon,
      header: found[VaultSchema.Row.header] ?? 0)
  }

  /// The store's header, or nil.
  static func header(_ connection: Connection) throws(StorageError) -> [UInt8]? {
    try meta(VaultSchema.Row.header, connection)
  }

  /// The manifest's bytes; empty when there was none yet.
  static func manifest(_ connection: Connection) throws(StorageError) -> [UInt8] {
    try meta(VaultSchema.Row.manifest, connection) ?? []
  }

  private static func meta(
    _ row: Int64, _ connection: Connection
  ) throws(StorageError) -> [UInt8]? {
    var value: [UInt8]?
    // No header of ours is longer, and this is read at every look at the file.
    try connection.statement(
      "SELECT value FROM meta WHERE id = ?1 AND length(value) <= 4194304"
    ).run(.integer(row)) {
      (row) throws(StorageError) in
      value = try row.blob(0)
      return false
    }
    return value
  }

  /// Sets a row of the table `meta`.
  static func setMeta(
    _ row: Int64, _ value: [UInt8], sequence: Int64, _ connection: Connection
  ) throws(StorageError) {
    try connection.statement("REPLACE INTO meta (id, sequence, value) VALUES (?1, ?2, ?3)")
      .run(row, sequence, value)
  }

  /// The record of a name, or nil.
  static func record(
    _ name: NameHash, _ connection: Connection
  ) throws(StorageError) -> [UInt8]? {
    var record: [UInt8]?
    try connection.statement("SELECT value FROM record WHERE name = ?1").run(.blob(name.bytes)) {
      (row) throws(StorageError) in
      record = try row.blob(0)
      return false
    }
    return record
  }

  /// Keeps a record under a name, or remembers that it was removed.
  static func set(
    _ record: [UInt8]?, for name: NameHash, sequence: Int64, _ connection: Connection
  ) throws(StorageError) {
    try connection.statement("REPLACE INTO record (sequence, name, value) VALUES (?1, ?2, ?3)")
      .run((sequence, name, record))
  }

  /// How many rows are written at once.
  static let batchSize = 16

  /// Does the same for as many rows as a batch has, no two of them of one name.
  ///
  /// Takes two thirds of the time. Not REPLACE, nor what ABORT does when a constraint fails: then
  /// SQLite keeps each page that the statement changes as it was
  /// (https://sqlite.org/tempfiles.html#stmtjrnl), which takes longer than to write the rows one by
  /// one. A transaction in which a constraint fails is over, here as there.
  static func setBatch(
    _ rows: Range<Int>, _ connection: Connection, row: (Int) -> Statement.NewRow
  ) throws(StorageError) {
    try Statement.run(
      try connection.statement(
        "DELETE FROM record WHERE name IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      try connection.statement(
        """
        INSERT OR ROLLBACK INTO record (sequence, name, value) VALUES
        (?, ?, ?), (?, ?, ?), (?, ?, ?), (?, ?, ?), (?, ?, ?), (?, ?, ?), (?, ?, ?), (?, ?, ?),
        (?, ?, ?), (?, ?, ?), (?, ?, ?), (?, ?, ?), (?, ?, ?), (?, ?, ?), (?, ?, ?), (?, ?, ?)
        """),
      rows, row: row)
  }

  /// Whether there is no record.
  static func isEmpty(_ connection: Connection) throws(StorageError) -> Bool {
    var isEmpty = true
    try connection.statement("SELECT 1 FROM record WHERE value IS NOT NULL LIMIT 1").run { _ in
      isEmpty = false
      return false
    }
    return isEmpty
  }

  /// How many records there are.
  static func count(_ connection: Connection) throws(StorageError) -> Int {
    var count = 0
    try connection.statement("SELECT count(*) FROM record WHERE value IS NOT NULL").run {
      count = Int($0.integer(0))
      return false
    }
    return count
  }

  /// The names of all records.
  static func names(_ connection: Connection) throws(StorageError) -> [NameHash] {
    var names: [NameHash] = []
    try visitNames(connection) { _, name in names.append(name) }
    return names
  }

  /// The names of all records, each once, also where the table leads to a page twice.
  static func distinctNames(_ connection: Connection) throws(StorageError) -> [NameHash] {
    var names: [NameHash] = []
    var last = Int64.min
    var isAscending = true
    try visitNames(connection) { sequence, name in
      isAscending = isAscending && (names.isEmpty || sequence > last)
      last = sequence
      names.append(name)
    }
    // Of a table in order no row comes twice, which saves a set of all names.
    guard !isAscending else { return names }
    var seen: Set<NameKey> = []
    return names.filter { seen.insert(NameKey($0)).inserted }
  }

  /// Goes through the sequence numbers and names of all records, in the order of the table.
  static func visitNames(
    _ connection: Connection, _ body: (Int64, NameHash) throws(StorageError) -> Void
  ) throws(StorageError) {
    try connection.statement(
      "SELECT sequence, name FROM record NOT INDEXED WHERE value IS NOT NULL"
    ).run { (row) throws(StorageError) in
      try body(row.integer(0), try name(row, 1, connection))
      return true
    }
  }

  /// Goes through the same as the index of names has it, in its order; removals are among them.
  ///
  /// The index lies on other pages: in a damaged file it may know what the table does not.
  static func visitIndex(
    _ connection: Connection, descending: Bool = false,
    _ body: (Int64, NameHash) throws(StorageError) -> Void
  ) throws(StorageError) {
    let sql: StaticString =
      descending
      ? """
      SELECT sequence, name FROM record INDEXED BY sqlite_autoindex_record_1 ORDER BY name DESC
      """
      : "SELECT sequence, name FROM record INDEXED BY sqlite_autoindex_record_1 ORDER BY name"
    try connection.statement(sql).run { (row) throws(StorageError) in
      // What is no name is no entry of ours, and the others are none the worse for it.
      guard let bytes = Self.readable(row, 1), let name = NameHash(bytes) else { return true }
      try body(row.integer(0), name)
      return true
    }
  }

  /// The bytes of a column, or nil when it holds no blob.
  static func readable(_ row: Statement.Row, _ column: Int32) -> [UInt8]? {
    do throws(StorageError) { return try row.blob(column) } catch { return nil }
  }

  /// Goes through all names and records.
  static func visit(
    _ connection: Connection, _ body: (NameHash, [UInt8]) throws(StorageError) -> Void
  ) throws(StorageError) {
    try connection.statement("SELECT name, value FROM record WHERE value IS NOT NULL").run {
      (row) throws(StorageError) in
      try body(try name(row, 0, connection), try row.blob(1) ?? [])
      return true
    }
  }

  /// What was written after a sequence number, in that order.
  static func changes(
    since sequence: Int64, withRecords: Bool, _ connection: Connection
  ) throws(StorageError) -> [RecordChange] {
    var changes: [RecordChange] = []
    let sql: StaticString =
      withRecords
      ? "SELECT name, value FROM record WHERE sequence > ?1 ORDER BY sequence"
      : "SELECT name FROM record WHERE sequence > ?1 ORDER BY sequence"
    try connection.statement(sql).run(.integer(sequence)) { (row) throws(StorageError) in
      changes.append(
        RecordChange(
          name: try name(row, 0, connection), record: withRecords ? try row.blob(1) : nil))
      return true
    }
    return changes
  }

  static func name(
    _ row: Statement.Row, _ column: Int32, _ connection: Connection
  ) throws(StorageError) -> NameHash {
    guard let bytes = try row.blob(column), let name = NameHash(bytes) else {
      throw StorageError(
        .damaged, "a record has no name that can be one; verify the vault", path: connection.path)
    }
    return name
  }

  // MARK: - Removals

  private static let tombstoneLimit: Int64 = 1024

  /// Forgets old removals when there are many.
  ///
  /// - Returns: the new horizon, if there is one.
  static func pruneTombstones(_ connection: Connection) throws(StorageError) -> Int64? {
    var cut: Int64?
    // The last removals stay, for processes that are a little behind.
    try connection.statement(
      "SELECT sequence FROM record WHERE value IS NULL ORDER BY sequence DESC LIMIT 1 OFFSET ?1"
    ).run(.integer(tombstoneLimit)) {
      cut = $0.integer(0)
      return false
    }
    guard let cut else { return nil }
    try connection.statement("DELETE FROM record WHERE value IS NULL AND sequence <= ?1")
      .run(.integer(cut))
    return cut
  }
}
