internal import CryptoCore
internal import StorageCore

/// Reads and writes a vault's tables, in a transaction of the caller's.
enum VaultRows {
  /// The sequence numbers that tell what has changed.
  struct Stamps {
    /// The number of the last commit, or of a later row that somebody else has put there.
    var generation: Int64 = 0
    /// The number of the commit that wrote the manifest.
    var manifest: Int64 = 0
    /// Removals up to this number are no longer remembered.
    var horizon: Int64 = 0
    /// The number of the commit that wrote the header; 0 if there is no header.
    var header: Int64 = 0
  }

  /// Sequence numbers end here.
  static let sequenceLimit = Int64.max / 2
  /// No honest commit has a greater number.
  ///
  /// The limit leaves room below the end for writes after such a number.
  private static let countableLimit = sequenceLimit - (1 << 40)
  /// How far a restore or a repair advances the numbers beyond all known ones: a running program
  /// may know later commits than the file in place, and must see the following commits as new.
  private static let jump: Int64 = 1 << 32

  /// The next number of a restored or repaired vault, beyond all known ones; numbers that leave no
  /// room don't count.
  static func number(farBeyond known: Int64...) -> Int64 {
    (known.filter { (0..<countableLimit / 2).contains($0) }.max() ?? 0) + jump
  }

  /// Whether a number can be that of a restored vault, when `known` had been seen.
  static func isFarBeyond(_ known: Int64, _ number: Int64) -> Bool { number - jump >= known }

  /// The sequence numbers.
  ///
  /// - Throws: `damaged` when no vault of ours can have these numbers.
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
      generation: max(generation, last), manifest: generation, horizon: horizon,
      header: found[VaultSchema.Row.header] ?? 0)
  }

  /// The store's header, or nil.
  static func header(_ connection: Connection) throws(StorageError) -> [UInt8]? {
    try meta(VaultSchema.Row.header, connection)
  }

  /// The manifest's bytes; empty when there is none yet.
  static func manifest(_ connection: Connection) throws(StorageError) -> [UInt8] {
    try meta(VaultSchema.Row.manifest, connection) ?? []
  }

  private static func meta(
    _ row: Int64, _ connection: Connection
  ) throws(StorageError) -> [UInt8]? {
    var value: [UInt8]?
    // No header of ours is longer, and this row is read at every look at the file.
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

  /// The record or tombstone of a name, or neither.
  static func kept(
    _ name: NameHash, _ connection: Connection
  ) throws(StorageError) -> KeptRecord {
    var kept = KeptRecord(record: nil)
    try connection.statement("SELECT value, sequence FROM record WHERE name = ?1").run(
      .blob(name.bytes)
    ) { (row) throws(StorageError) in
      kept = try Self.kept(row, 0, sequence: 1)
      return false
    }
    return kept
  }

  private static func kept(
    _ row: Statement.Row, _ value: Int32, sequence: Int32
  ) throws(StorageError) -> KeptRecord {
    if let record = try row.blob(value) { return KeptRecord(record: record) }
    return KeptRecord(record: nil, removal: row.integer(sequence))
  }

  /// Writes a record under a name, or a tombstone for nil.
  static func set(
    _ record: [UInt8]?, for name: NameHash, sequence: Int64, _ connection: Connection
  ) throws(StorageError) {
    try connection.statement("REPLACE INTO record (sequence, name, value) VALUES (?1, ?2, ?3)")
      .run((sequence, name, record))
  }

  /// How many rows one statement writes.
  static let batchSize = 16

  /// Does the same for a whole batch of rows with different names.
  ///
  /// Takes two thirds of the time. It uses neither REPLACE nor ABORT: for these SQLite saves each
  /// page that the statement changes (https://sqlite.org/tempfiles.html#stmtjrnl), which takes
  /// longer than writing the rows one by one. A transaction with a failed constraint is over, here
  /// as there.
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

  /// Whether the vault has no records.
  static func isEmpty(_ connection: Connection) throws(StorageError) -> Bool {
    var isEmpty = true
    try connection.statement("SELECT 1 FROM record WHERE value IS NOT NULL LIMIT 1").run { _ in
      isEmpty = false
      return false
    }
    return isEmpty
  }

  /// The number of records.
  static func count(_ connection: Connection) throws(StorageError) -> Int {
    var count = 0
    try connection.statement("SELECT count(*) FROM record WHERE value IS NOT NULL").run {
      count = Int($0.integer(0))
      return false
    }
    return count
  }

  // MARK: - Strays

  // A row with a name or value that no vault writes is no record: somebody without the keys put it
  // there. It does not harm the other rows, so each statement passes it over; a verification
  // reports it. typeof() and length() read no blob, so a blob that is longer than SQLite may read
  // costs nothing: 64 is a name's length, 268439552 that of the longest row. Statements are
  // literals, so the condition is written out in each.

  /// The numbers of the rows that are no records and no removals, in order.
  static func strays(_ connection: Connection) throws(StorageError) -> [Int64] {
    var rows: [Int64] = []
    try connection.statement(
      """
      SELECT sequence FROM record NOT INDEXED WHERE NOT (typeof(name) = 'blob' \
      AND length(name) = 64 AND typeof(value) IN ('blob', 'null') \
      AND ifnull(length(value), 0) <= 268439552) ORDER BY sequence
      """
    ).run {
      rows.append($0.integer(0))
      return true
    }
    return rows
  }

  /// Removes the rows that are no records and no removals.
  static func removeStrays(_ connection: Connection) throws(StorageError) {
    try connection.statement(
      """
      DELETE FROM record WHERE NOT (typeof(name) = 'blob' \
      AND length(name) = 64 AND typeof(value) IN ('blob', 'null') \
      AND ifnull(length(value), 0) <= 268439552)
      """
    ).run()
  }

  // MARK: - Names and records

  /// The names of all records.
  static func names(_ connection: Connection) throws(StorageError) -> [NameHash] {
    var names: [NameHash] = []
    try visitNames(connection) { _, name in names.append(name) }
    return names
  }

  /// The names of all records, each once, even if a damaged table leads to a page twice.
  static func distinctNames(_ connection: Connection) throws(StorageError) -> [NameHash] {
    var names: [NameHash] = []
    var last = Int64.min
    var isAscending = true
    try visitNames(connection) { sequence, name in
      isAscending = isAscending && (names.isEmpty || sequence > last)
      last = sequence
      names.append(name)
    }
    // If the rows came in order, none came twice, and no set of all names is needed.
    guard !isAscending else { return names }
    var seen: Set<NameKey> = []
    return names.filter { seen.insert(NameKey($0)).inserted }
  }

  /// Goes through the sequence numbers and names of all records, in the order of the table.
  static func visitNames(
    _ connection: Connection, _ body: (Int64, NameHash) throws(StorageError) -> Void
  ) throws(StorageError) {
    try connection.statement(
      """
      SELECT sequence, name FROM record NOT INDEXED WHERE typeof(value) = 'blob' \
      AND length(value) <= 268439552 AND typeof(name) = 'blob' AND length(name) = 64
      """
    ).run { (row) throws(StorageError) in
      try body(row.integer(0), try name(row, 1, connection))
      return true
    }
  }

  /// Goes through the index of names, in its order; removals are included.
  ///
  /// The index lies on other pages: in a damaged file it may have entries that the table lacks.
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
      // An entry without a valid name is not ours, and does not harm the others.
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
    try connection.statement(
      """
      SELECT name, value FROM record WHERE typeof(value) = 'blob' \
      AND length(value) <= 268439552 AND typeof(name) = 'blob' AND length(name) = 64
      """
    ).run { (row) throws(StorageError) in
      try body(try name(row, 0, connection), try row.blob(1) ?? [])
      return true
    }
  }

  /// The changes after a sequence number, in order; only their names unless records are asked for.
  static func changes(
    since sequence: Int64, withRecords: Bool, _ connection: Connection
  ) throws(StorageError) -> [(name: NameHash, kept: KeptRecord)] {
    var changes: [(name: NameHash, kept: KeptRecord)] = []
    let sql: StaticString =
      withRecords
      ? """
      SELECT name, sequence, value FROM record WHERE sequence > ?1 AND typeof(name) = 'blob' \
      AND length(name) = 64 AND typeof(value) IN ('blob', 'null') \
      AND ifnull(length(value), 0) <= 268439552 ORDER BY sequence
      """
      : """
      SELECT name FROM record WHERE sequence > ?1 AND typeof(name) = 'blob' \
      AND length(name) = 64 ORDER BY sequence
      """
    try connection.statement(sql).run(.integer(sequence)) { (row) throws(StorageError) in
      let kept =
        withRecords ? try Self.kept(row, 2, sequence: 1) : KeptRecord(record: nil)
      changes.append((try name(row, 0, connection), kept))
      return true
    }
    return changes
  }

  static func name(
    _ row: Statement.Row, _ column: Int32, _ connection: Connection
  ) throws(StorageError) -> NameHash {
    guard let bytes = try row.blob(column), let name = NameHash(bytes) else {
      throw StorageError(
        .damaged, "the name of a record is not valid; verify the vault", path: connection.path)
    }
    return name
  }

  // MARK: - Removals

  /// Goes through the sequence numbers and names of all tombstones.
  static func visitRemovals(
    _ connection: Connection, _ body: (Int64, NameHash) throws(StorageError) -> Void
  ) throws(StorageError) {
    try connection.statement(
      """
      SELECT sequence, name FROM record INDEXED BY tombstone WHERE value IS NULL \
      AND typeof(name) = 'blob' AND length(name) = 64
      """
    ).run { (row) throws(StorageError) in
      try body(row.integer(0), try name(row, 1, connection))
      return true
    }
  }

  /// Goes through records and tombstones of one bucket of the manifest, found by the index of
  /// names.
  static func visit(
    bucket: Int, _ connection: Connection,
    _ body: (Int64, NameHash, [UInt8]?) throws(StorageError) -> Void
  ) throws(StorageError) {
    let first = UInt8(bucket << 2)
    // A shorter blob comes before those that begin with it, a longer one after them:
    // https://sqlite.org/datatype3.html#sort_order
    let end =
      first < 0xFC ? [first + 4] : [UInt8](repeating: 0xFF, count: NameHash.byteCount + 1)
    try connection.statement(
      """
      SELECT sequence, name, value FROM record INDEXED BY sqlite_autoindex_record_1 \
      WHERE name >= ?1 AND name < ?2 AND length(name) = 64 \
      AND typeof(value) IN ('blob', 'null') AND ifnull(length(value), 0) <= 268439552
      """
    ).run(.blob([first]), .blob(end)) { (row) throws(StorageError) in
      try body(row.integer(0), try name(row, 1, connection), try row.blob(2))
      return true
    }
  }

  /// Forgets a removal.
  static func forgetRemoval(
    _ sequence: Int64, _ connection: Connection
  ) throws(StorageError) {
    try connection.statement("DELETE FROM record WHERE sequence = ?1 AND value IS NULL")
      .run(.integer(sequence))
  }
}
