internal import CSQLite
internal import CryptoCore
internal import StorageCore

/// A compiled statement.
@safe
final class Statement {
  private let handle: OpaquePointer
  // The connection keeps its statements alive, not the reverse; one thread uses both.
  private unowned let connection: Connection
  private let process = OwnProcess()

  init(_ sql: String, _ connection: Connection) throws(StorageError) {
    unsafe handle = try connection.prepare(sql)
    self.connection = connection
  }

  // In a child of fork(2) it stays open, as the connection does.
  deinit { if process.isCurrent { unsafe sqlite3_finalize(handle) } }

  /// Compiles and runs a statement once, and hands its first row to `body`.
  static func once(
    _ sql: String, _ connection: Connection, row body: (Row) -> Void
  ) throws(StorageError) {
    try Statement(sql, connection).run { (row) throws(StorageError) in
      body(row)
      return false
    }
  }

  /// A parameter.
  enum Value {
    case integer(Int64)
    case blob([UInt8])
    case null
  }

  /// Runs the statement and hands each row to `body`, until that returns false.
  func run(
    _ values: Value..., row body: (Row) throws(StorageError) -> Bool
  ) throws(StorageError) {
    try bind(values)
    defer { reset() }
    while true {
      switch step() {
      case SQLITE_ROW: guard try body(Row(self)) else { return }
      case SQLITE_DONE: return
      case let code: throw connection.error(code, action)
      }
    }
  }

  /// Runs a statement and ignores its rows.
  func run(_ values: Value...) throws(StorageError) {
    defer { reset() }
    try bind(values)
    try requireDone(finish())
  }

  /// The columns of a row: a number, a name, and a blob or NULL.
  typealias NewRow = (number: Int64, name: NameHash, blob: [UInt8]?)

  /// Runs a statement with a row, whose bytes SQLite does not copy.
  func run(_ row: NewRow) throws(StorageError) {
    defer { reset() }
    let words = row.name.words
    let code = unsafe withUnsafeBytes(of: words) { name in
      unsafe (row.blob ?? []).withUnsafeBytes { bytes in
        let code = unsafe bind(row.number, name, row.blob == nil ? nil : bytes, at: 1)
        return code == SQLITE_OK ? finish() : code
      }
    }
    try requireDone(code)
  }

  /// Runs a statement with the names of several rows, then another with all their columns.
  static func run(
    _ first: Statement, _ second: Statement, _ rows: Range<Int>, row: (Int) -> NewRow
  ) throws(StorageError) {
    defer {
      first.reset()
      second.reset()
    }
    for index in rows {
      let (number, name, blob) = row(index)
      let place = Int32(index - rows.lowerBound)
      let key = Value.blob(name.bytes)
      try first.bind([key], after: place)
      try second.bind([.integer(number), key, blob.map { .blob($0) } ?? .null], after: place * 3)
    }
    try first.requireDone(first.finish())
    try second.requireDone(second.finish())
  }

  /// Runs a statement with two numbers and a blob, which SQLite does not copy.
  func run(_ number: Int64, _ other: Int64, _ blob: [UInt8]) throws(StorageError) {
    defer { reset() }
    let code = unsafe blob.withUnsafeBytes { bytes in
      var code = unsafe sqlite3_bind_int64(handle, 1, number)
      guard code == SQLITE_OK else { return code }
      code = unsafe sqlite3_bind_int64(handle, 2, other)
      guard code == SQLITE_OK else { return code }
      code = unsafe bind(bytes, at: 3)
      return code == SQLITE_OK ? finish() : code
    }
    try requireDone(code)
  }

  private func bind(
    _ number: Int64, _ name: UnsafeRawBufferPointer, _ blob: UnsafeRawBufferPointer?,
    at index: Int32
  ) -> Int32 {
    var code = unsafe sqlite3_bind_int64(handle, index, number)
    guard code == SQLITE_OK else { return code }
    code = unsafe bind(name, at: index + 1)
    // Parameters that are not bound are NULL.
    guard code == SQLITE_OK, let blob = unsafe blob else { return code }
    return unsafe bind(blob, at: index + 2)
  }

  /// Binds bytes that only have to outlive the step: without a destructor they are SQLITE_STATIC.
  private func bind(_ bytes: UnsafeRawBufferPointer, at index: Int32) -> Int32 {
    // A null pointer would be NULL.
    unsafe bytes.isEmpty
      ? sqlite3_bind_zeroblob(handle, index, 0)
      : sqlite3_bind_blob64(handle, index, bytes.baseAddress, UInt64(bytes.count), nil)
  }

  private func step() -> Int32 {
    FileSizeLimit.withoutSignal(if: connection.isSizeLimited) { unsafe sqlite3_step(handle) }
  }

  private func finish() -> Int32 {
    while true {
      let code = step()
      if code != SQLITE_ROW { return code }
    }
  }

  private func requireDone(_ code: Int32) throws(StorageError) {
    guard code == SQLITE_DONE else { throw connection.error(code, action) }
  }

  private var action: String {
    unsafe sqlite3_stmt_readonly(handle) != 0 ? "read" : "write to"
  }

  private func reset() {
    // sqlite3_reset() repeats the error of the last step, which was thrown already.
    unsafe sqlite3_reset(handle)
    unsafe sqlite3_clear_bindings(handle)
  }

  private func bind(_ values: [Value], after first: Int32 = 0) throws(StorageError) {
    for (index, value) in values.enumerated() {
      let code = bind(value, at: first + Int32(index) + 1)
      guard code == SQLITE_OK else { throw connection.error(code, action) }
    }
  }

  private func bind(_ value: Value, at index: Int32) -> Int32 {
    switch value {
    case .integer(let number): unsafe sqlite3_bind_int64(handle, index, number)
    case .null: unsafe sqlite3_bind_null(handle, index)
    // A null pointer would be NULL.
    case .blob(let bytes) where bytes.isEmpty: unsafe sqlite3_bind_zeroblob(handle, index, 0)
    case .blob(let bytes):
      unsafe bytes.withUnsafeBytes {
        unsafe sps_sqlite3_bind_copy(handle, index, $0.baseAddress, UInt64($0.count))
      }
    }
  }

  /// The row that a statement is at.
  struct Row {
    private let statement: Statement

    fileprivate init(_ statement: Statement) { self.statement = statement }

    func integer(_ column: Int32) -> Int64 {
      unsafe sqlite3_column_int64(statement.handle, column)
    }

    /// The bytes of a blob, or nil for NULL.
    ///
    /// - Throws: `damaged` for anything else: a STRICT table binds only honest writers.
    func blob(_ column: Int32) throws(StorageError) -> [UInt8]? {
      let handle = unsafe statement.handle
      switch unsafe sqlite3_column_type(handle, column) {
      case SQLITE_BLOB: break
      case SQLITE_NULL: return nil
      default:
        throw StorageError(
          .damaged, "a row has a column type that a vault never writes" + StorageError.damageAdvice,
          path: statement.connection.path)
      }
      // sqlite3_column_blob() gives NULL for an empty blob; the count must be asked for afterwards.
      guard let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
      let count = Int(unsafe sqlite3_column_bytes(handle, column))
      return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }

    /// The text of a column, or nil for NULL.
    func text(_ column: Int32) -> String? {
      unsafe sqlite3_column_text(statement.handle, column).map {
        unsafe SystemText.shown(UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
      }
    }
  }
}

@available(*, unavailable)
extension Statement: Sendable {}
@available(*, unavailable)
extension Statement.Row: Sendable {}
