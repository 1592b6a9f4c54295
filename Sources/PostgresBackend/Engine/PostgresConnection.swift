internal import CPostgres
internal import CryptoCore
internal import Glibc
internal import RemoteBackend
internal import StorageCore

/// One connection to one server; one thread uses it at a time.
@safe
final class PostgresConnection: @unchecked Sendable {
  // libpq's connections are used by one thread at a time, which ``PostgresEngine`` sees to.
  private let connection: OpaquePointer
  private let process = OwnProcess()
  private let notices: Notices
  /// Which of the engine's hosts this is.
  let host: Int
  /// Whether nothing can be asked on it any more.
  private(set) var isBroken = false
  /// Whether the answer to ``send(_:_:)`` has not been taken yet.
  private var owesAnswer = false

  /// How long nothing may arrive, in nanoseconds, before a server counts as away.
  private static let patience: Int64 = 2_000_000_000

  /// The server's functions whose warnings tell nothing of the commit: that VACUUM has not run for long,
  /// and what somebody's trigger says.
  private static let usualWarners = ["GetNewTransactionId", "GetNewMultiXactId", "exec_stmt_raise"]

  /// What the server warned of during a call; used by the thread that calls.
  private final class Notices {
    var warning: String?
  }

  /// A parameter of a statement, in its binary form; nil is NULL.
  struct Parameter {
    /// The type, as pg_type(5) numbers it.
    let type: Oid
    let bytes: [UInt8]?

    static func text(_ text: String) -> Parameter { Parameter(type: 25, bytes: Array(text.utf8)) }
    static func byteArrays(_ all: [[UInt8]?]) -> Parameter { array(1001, of: 17, all) }
    static func transactions(_ all: [UInt64?]) -> Parameter {
      array(271, of: 5069, all.map { $0.map { bigEndian($0) } })
    }
    static func booleans(_ all: [Bool]) -> Parameter {
      array(1000, of: 16, all.map { [$0 ? 1 : 0] })
    }
    static func transaction(_ number: UInt64) -> Parameter {
      Parameter(type: 5069, bytes: bigEndian(number))
    }

    /// An array of one dimension: array_recv() of the server.
    private static func array(_ type: Oid, of element: Oid, _ all: [[UInt8]?]) -> Parameter {
      let head: [UInt32] =
        all.isEmpty ? [0, 0, element] : [1, 1, element, UInt32(all.count), 1]
      var bytes = head.flatMap { bigEndian($0) }
      for element in all {
        bytes += bigEndian(UInt32(bitPattern: element.map { Int32($0.count) } ?? -1))
        bytes += element ?? []
      }
      return Parameter(type: type, bytes: bytes)
    }

    private static func bigEndian(_ number: some FixedWidthInteger) -> [UInt8] {
      unsafe withUnsafeBytes(of: number.bigEndian) { unsafe Array($0) }
    }
  }

  /// One row of an answer, while it is read.
  @safe struct Fields {
    fileprivate let result: OpaquePointer
    fileprivate let row: Int32

    /// The bytes of a column; nil for NULL.
    subscript(_ column: Int32) -> [UInt8]? {
      guard unsafe sps_PQgetisnull(result, row, column) == 0,
        let start = unsafe sps_PQgetvalue(result, row, column)
      else { return nil }
      let count = Int(unsafe sps_PQgetlength(result, row, column))
      return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }

    /// The text of a column; empty for NULL.
    func text(_ column: Int32) -> String { String(decoding: self[column] ?? [], as: UTF8.self) }

    /// The texts of so many columns; empty where something else answers that has fewer.
    func texts(_ count: Int) -> [String] { (0..<Int32(count)).map { text($0) } }

    /// The number of a column of eight bytes; 0 for NULL.
    func number(_ column: Int32) -> UInt64 {
      (self[column] ?? []).reduce(0) { $0 << 8 | UInt64($1) }
    }
  }

  /// Connects.
  ///
  /// - Parameters:
  ///   - settings: libpq's keywords and values, of which later ones replace earlier ones.
  ///   - password: the password, where libpq's own places have none.
  ///   - host: which of the engine's hosts this is.
  ///   - deadline: when to give up.
  /// - Throws: `PostgresFailure`.
  init(
    _ settings: [(String, String)], password: SecureBytes?, host: Int, by deadline: Deadline
  ) throws(PostgresFailure) {
    self.host = host
    notices = Notices()
    guard let started = unsafe Self.start(settings, password) else {
      throw PostgresFailure(StorageError(.io, "there is no memory for a connection"))
    }
    unsafe connection = started
    // With the SQLSTATE, which libpq does not tell otherwise of a connection that was refused.
    _ = unsafe sps_PQsetErrorVerbosity(connection, PQERRORS_VERBOSE)
    unsafe sps_PQsetNoticeReceiver(
      connection,
      { notices, result in
        guard let notices = unsafe notices,
          unsafe PostgresFailure.field(PostgresFailure.Field.severity, of: result) == "WARNING",
          unsafe !PostgresConnection.usualWarners.contains(
            PostgresFailure.field(PostgresFailure.Field.function, of: result))
        else { return }
        unsafe Unmanaged<Notices>.fromOpaque(notices).takeUnretainedValue().warning =
          PostgresFailure.field(PostgresFailure.Field.message, of: result)
      }, Unmanaged.passUnretained(notices).toOpaque())
    var next = PGRES_POLLING_WRITING
    while unsafe sps_PQstatus(connection) != CONNECTION_BAD, next != PGRES_POLLING_OK {
      guard next != PGRES_POLLING_FAILED else { break }
      try wait(next == PGRES_POLLING_READING ? POLLIN : POLLOUT, by: deadline, .connecting)
      next = unsafe sps_PQconnectPoll(connection)
    }
    guard next == PGRES_POLLING_OK, unsafe sps_PQsetnonblocking(connection, 1) == 0 else {
      throw lost(.connecting)
    }
  }

  deinit {
    // A child of fork(2) would end the parent's session.
    if process.isCurrent { unsafe sps_PQfinish(connection) }
  }

  /// Begins to connect, by settings whose copies here are wiped; nil without memory.
  static func start(
    _ settings: [(String, String)], _ password: SecureBytes? = nil
  ) -> OpaquePointer? {
    var names = unsafe settings.map { unsafe UnsafePointer(strdup($0.0)) }
    var values = unsafe settings.map { unsafe UnsafePointer(strdup($0.1)) }
    // Not as a String, which nobody wipes; libpq wipes its own copy.
    if let password {
      unsafe names.append(UnsafePointer(strdup("password")))
      unsafe values.append(
        password.withBytes { bytes in
          unsafe bytes.withUnsafeBytes { bytes in
            let start = unsafe bytes.assumingMemoryBound(to: CChar.self).baseAddress
            return unsafe start.flatMap { unsafe UnsafePointer(strndup($0, bytes.count)) }
          }
        })
    }
    defer {
      let texts = unsafe names + values
      for index in unsafe texts.indices {
        let text = unsafe UnsafeMutablePointer(mutating: texts[index])
        unsafe wipe(text)
        unsafe free(text)
      }
    }
    // 1: the first value may be a whole connection string.
    return unsafe sps_PQconnectStartParams(names + [nil], values + [nil], 1)
  }

  /// Wipes a text.
  static func wipe(_ text: UnsafeMutablePointer<CChar>?) {
    if let text = unsafe text { unsafe explicit_bzero(text, strlen(text)) }
  }

  // MARK: Calls

  /// Asks a statement, and takes its whole answer.
  ///
  /// - Parameters:
  ///   - sql: one statement.
  ///   - parameters: its parameters.
  ///   - deadline: when to give up; the connection is then of no use any more.
  ///   - body: gets each row, in binary form.
  /// - Returns: what the server warned of; nil for the usual case.
  /// - Throws: `PostgresFailure`, or what `body` throws.
  @discardableResult
  func ask(
    _ sql: String, _ parameters: [Parameter] = [], by deadline: Deadline,
    _ body: (Fields) throws(StorageError) -> Void = { _ in }
  ) throws(PostgresFailure) -> String? {
    try takeOwed(by: deadline)
    notices.warning = nil
    try post(sql, parameters)
    guard unsafe sps_PQsetSingleRowMode(connection) == 1 else { throw lost(.asking) }
    try flush(by: deadline)
    var failure: PostgresFailure?
    while let result = unsafe try nextResult(by: deadline) {
      defer { unsafe sps_PQclear(result) }
      switch unsafe sps_PQresultStatus(result) {
      case PGRES_SINGLE_TUPLE, PGRES_TUPLES_OK:
        do throws(StorageError) {
          for row in 0..<(unsafe sps_PQntuples(result)) {
            try body(unsafe Fields(result: result, row: row))
          }
        } catch {
          isBroken = true
          throw PostgresFailure(error)
        }
      case PGRES_COMMAND_OK: break
      default: failure = unsafe PostgresFailure(result)
      }
    }
    if let failure {
      if unsafe failure.isFatal || sps_PQstatus(connection) == CONNECTION_BAD { isBroken = true }
      throw failure
    }
    return notices.warning
  }

  /// Sends a statement whose answer is of no interest; the next call waits for it.
  func send(_ sql: String, _ parameters: [Parameter]) {
    do throws(PostgresFailure) {
      try post(sql, parameters)
      owesAnswer = true
      // What does not fit is sent by the next call.
      _ = unsafe sps_PQflush(connection)
    } catch {
      isBroken = true
    }
  }

  private func post(_ sql: String, _ parameters: [Parameter]) throws(PostgresFailure) {
    var bytes: [UInt8] = []
    var places: [(start: Int, count: Int)?] = []
    for parameter in parameters {
      places.append(parameter.bytes.map { (bytes.count, $0.count) })
      bytes += parameter.bytes ?? []
    }
    bytes.append(0)  // so that an empty value has an address, too
    let isSent = unsafe bytes.withUnsafeBytes { bytes in
      let values = unsafe places.map { place in
        unsafe place.map {
          unsafe bytes.baseAddress!.advanced(by: $0.start).assumingMemoryBound(to: CChar.self)
        }
      }
      return unsafe sps_PQsendQueryParams(
        connection, sql, Int32(parameters.count), parameters.map(\.type), values,
        places.map { Int32($0?.count ?? 0) }, parameters.map { _ in 1 }, 1)
    }
    guard isSent == 1 else { throw lost(.asking) }
  }

  private func takeOwed(by deadline: Deadline) throws(PostgresFailure) {
    guard owesAnswer else { return }
    do throws(PostgresFailure) {
      try flush(by: deadline)
      while let result = unsafe try nextResult(by: deadline) { unsafe sps_PQclear(result) }
    } catch {
      throw error.beforeAsking
    }
    owesAnswer = false
  }

  private func flush(by deadline: Deadline) throws(PostgresFailure) {
    while true {
      switch unsafe sps_PQflush(connection) {
      case 0: return
      case 1:
        try wait(POLLOUT | POLLIN, by: deadline, .asking)
        guard unsafe sps_PQconsumeInput(connection) == 1 else { throw lost(.asking) }
      default: throw lost(.asking)
      }
    }
  }

  private func nextResult(by deadline: Deadline) throws(PostgresFailure) -> OpaquePointer? {
    while unsafe sps_PQisBusy(connection) == 1 {
      try wait(POLLIN, by: deadline, .asking)
      guard unsafe sps_PQconsumeInput(connection) == 1 else { throw lost(.asking) }
    }
    return unsafe sps_PQgetResult(connection)
  }

  /// Waits until the connection can be read or written.
  private func wait(
    _ events: Int32, by deadline: Deadline, _ stage: PostgresFailure.Stage
  ) throws(PostgresFailure) {
    let end = Deadline(after: .nanoseconds(Self.patience))
    while true {
      let left = min(deadline.nanoseconds, end.nanoseconds)
      // What goes on and on is not waited for, either.
      if try isReady(events, within: left, stage), !deadline.isOver { return }
      guard left > 0 else {
        isBroken = true
        throw PostgresFailure(ofTimeWhile: stage)
      }
    }
  }

  private func isReady(
    _ events: Int32, within nanoseconds: Int64, _ stage: PostgresFailure.Stage
  ) throws(PostgresFailure) -> Bool {
    var descriptor = pollfd(
      fd: unsafe sps_PQsocket(connection), events: Int16(events), revents: 0)
    let milliseconds = min((nanoseconds + 999_999) / 1_000_000, 60_000)
    let count = unsafe poll(&descriptor, 1, Int32(milliseconds))
    guard count >= 0 || errno == EINTR else { throw lost(stage) }
    return count > 0
  }

  private func lost(_ stage: PostgresFailure.Stage) -> PostgresFailure {
    isBroken = true
    return PostgresFailure(
      unsafe SystemText.shown(sps_PQerrorMessage(connection)), while: stage)
  }

  // MARK: Between calls

  /// Whether the server is still there, as far as is known without asking.
  var isAlive: Bool {
    guard !isBroken, process.isCurrent, unsafe sps_PQconsumeInput(connection) == 1 else {
      return false
    }
    return unsafe sps_PQstatus(connection) == CONNECTION_OK
  }

  /// Waits for notifications.
  ///
  /// - Returns: the texts that have arrived; none after the time given.
  /// - Throws: `PostgresFailure` when the connection is gone.
  func notifications(within nanoseconds: Int64) throws(PostgresFailure) -> [String] {
    let texts = takeNotifications()
    guard texts.isEmpty, try isReady(POLLIN, within: nanoseconds, .asking) else { return texts }
    guard unsafe sps_PQconsumeInput(connection) == 1 else { throw lost(.asking) }
    return takeNotifications()
  }

  private func takeNotifications() -> [String] {
    var texts: [String] = []
    while let notification = unsafe sps_PQnotifies(connection) {
      texts.append(unsafe SystemText.shown(notification.pointee.extra))
      unsafe sps_PQfreemem(notification)
    }
    return texts
  }
}
