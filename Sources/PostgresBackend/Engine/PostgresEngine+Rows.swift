internal import CryptoCore
internal import RemoteBackend
internal import StorageCore

// The rows of a store, as questions to PostgreSQL.
extension PostgresEngine {
  /// How many rows are handed on at once.
  private static let page = 1_000
  /// How long a commit waits for a lock, in milliseconds; shorter than a server may be silent.
  private static let lockWait: Int64 = 1_500

  private typealias Parameter = PostgresConnection.Parameter

  func history(by deadline: Deadline) throws(StorageError) -> String {
    var words = PostgresStatements.noFacts
    try call(.read, by: deadline) { (connection) throws(PostgresFailure) in
      _ = try connection.ask(statements.history, [.text(store)], by: deadline) {
        words = $0.texts(words.count)
      }
    }
    guard words[1] == "\(PostgresSchema.version)" else {
      throw StorageError(
        .unsupported,
        "the tables in the database have version \(words[1]), and this program knows "
          + "\(PostgresSchema.version); use the program and the migration of one version",
        path: title)
    }
    guard words[2] == "false" else {
      throw StorageError(
        .damaged,
        "the rows are newer than the server, as after a dump was restored; let the tables' owner run "
          + "PostgresSchema's migration again, which securestore init --sql prints", path: title)
    }
    note(Self.caution(words))
    return words[0]
  }

  /// What may become of commits that were acknowledged, by the facts of a server; nil if each is on a
  /// standby, too.
  static func caution(_ facts: [String]) -> String? {
    let (fsync, commits, standbys) = (facts[3], facts[4], facts[5])
    if fsync == "off" || commits == "off" {
      return
        "commits are not on the disk when they are acknowledged (fsync, synchronous_commit), so a "
        + "crash of the server loses some"
    }
    if standbys.isEmpty || commits == "local" {
      return "commits are not on a standby when they are acknowledged (synchronous_standby_names, "
        + "synchronous_commit), so a failover loses some"
    }
    return nil
  }

  func read(
    _ keys: [RowKey], by deadline: Deadline
  ) throws(StorageError) -> (rows: [Row], mark: Mark) {
    var found: [RowKey: Row] = [:]
    let moment = try ask(
      statements.read, [.text(store), .byteArrays(keys.map(\.bytes))], isProof: true, by: deadline
    ) { () throws(StorageError) in
      found = [:]
    } row: { row in
      found[row.key] = row
    }
    let rows = keys.map { found[$0] ?? Row($0, nil, version: moment.complete) }
    return (rows, moment.latest)
  }

  func list(
    keysOnly: Bool, by deadline: Deadline, _ body: ([Row]) throws(StorageError) -> Void
  ) throws(StorageError) -> Moment {
    var page: [Row] = []
    var hasBegun = false
    let moment = try ask(
      keysOnly ? statements.listKeys : statements.list, [.text(store)], isProof: true, by: deadline
    ) { () throws(StorageError) in
      page = []
      // The rows of a list that broke off are not those of another moment.
      guard !hasBegun else { throw StorageError(.busy, "the list broke off; try again") }
    } row: { (row) throws(StorageError) in
      page.append(row)
      guard page.count == Self.page else { return }
      hasBegun = true
      try body(page)
      page = []
    }
    try body(page)
    return Moment(complete: moment.complete, latest: moment.latest)
  }

  /// Asks for rows and the moment of the answer.
  ///
  /// - Parameters:
  ///   - statement: the question.
  ///   - parameters: its parameters.
  ///   - isProof: whether the answer must prove that the server is not replaced.
  ///   - deadline: when to give up.
  ///   - begin: is called before each attempt.
  ///   - row: gets each row.
  /// - Returns: the moment.
  /// - Throws: `StorageError`, or what `row` throws.
  private func ask(
    _ statement: String, _ parameters: [PostgresConnection.Parameter], isProof: Bool,
    by deadline: Deadline, begin: () throws(StorageError) -> Void,
    row: (Row) throws(StorageError) -> Void
  ) throws(StorageError) -> PostgresMoment {
    try call(.read, by: deadline) { (connection) throws(PostgresFailure) in
      do throws(StorageError) { try begin() } catch { throw PostgresFailure(error) }
      return try moment(
        connection, statement, parameters, isProof: isProof, by: deadline, row: row)
    }
  }

  /// The same, on a connection.
  func moment(
    _ connection: PostgresConnection, _ statement: String,
    _ parameters: [PostgresConnection.Parameter], isProof: Bool, by deadline: Deadline,
    row: (Row) throws(StorageError) -> Void
  ) throws(PostgresFailure) -> PostgresMoment {
    var moment: PostgresMoment?
    let warning = try connection.ask(statement, parameters, by: deadline) {
      (fields) throws(StorageError) in
      guard let name = fields[0] else {
        moment = PostgresMoment(fields)
        return
      }
      // A row of another kind, such as that of the removals, is none of the store's.
      guard let key = RowKey(name) else { return }
      try row(Row(key, fields[1], version: fields.number(2)))
    }
    if isProof, let warning {
      throw PostgresFailure(.asking, saying: "the standbys did not confirm the answer: \(warning)")
    }
    guard let moment else {
      throw PostgresFailure(
        StorageError(.damaged, "the answer of the database is not that of its tables", path: title))
    }
    return moment
  }

  func commit(
    _ commit: RemoteCommit, by deadline: Deadline
  ) throws(StorageError) -> Mark? {
    var writes: [RowKey: [UInt8]?] = [:]
    for (key, value) in commit.writes { writes[key] = .some(value) }
    var checks: [RowKey: Mark] = [:]
    for (key, version) in commit.checks { checks[key] = version }
    let keys = Set(writes.keys).union(checks.keys).map { (key: $0, bytes: $0.bytes) }
      .sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    let wait = min(Self.lockWait, deadline.nanoseconds / 1_000_000 * 3 / 4)
    let parameters: [PostgresConnection.Parameter] = [
      .text(store), .byteArrays(keys.map(\.bytes)), .transactions(keys.map { checks[$0.key] }),
      .booleans(keys.map { writes[$0.key] != nil }),
      .byteArrays(keys.map { writes[$0.key] ?? nil }), .text("\(max(wait, 1))"),
    ]
    return try call(.write, by: deadline) { (connection) throws(PostgresFailure) in
      var mark: Mark?
      let warning = try connection.ask(statements.commit, parameters, by: deadline) { fields in
        mark = fields[0] == nil ? nil : fields.number(0)
      }
      if let warning {
        // The wait for a standby was ended: the commit is made here, and perhaps nowhere else.
        throw PostgresFailure(.asking, saying: warning)
      }
      if mark != nil { connection.send(statements.notify, [.text(store)]) }
      return mark
    }
  }

  func watch(
    from mark: Mark, _ tell: @escaping @Sendable (WatchSignal) -> Void
  ) -> ChangeObservation {
    let watch = PostgresWatch(engine: self, from: mark, tell)
    DetachedThread.start("sps-postgres") { watch.run() }
    return ChangeObservation { watch.stop() }
  }
}
