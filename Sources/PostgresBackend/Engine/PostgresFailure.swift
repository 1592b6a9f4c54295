internal import CPostgres
internal import StorageCore

/// A call to PostgreSQL that failed, and what that means.
struct PostgresFailure: Error {
  /// How far the call came.
  enum Stage {
    /// Nothing was asked yet.
    case connecting
    /// The statement was sent, or a part of it.
    case asking
  }

  /// What was asked.
  enum Call {
    /// It changes nothing.
    case read
    /// It may have been done although there is no answer.
    case write
  }

  /// What to do next.
  enum Kind {
    /// Nothing was done; another host may do it, or this one later.
    case notDone
    /// Nothing was done, because of what others did at the same time; this host may do it now.
    case disturbed
    /// Nothing was done, and this will not change by itself.
    case refused(StorageError.Code, String)
    /// Nobody knows whether it was done.
    case unknown
  }

  /// Fields of a message: protocol-error-fields in PostgreSQL's manual.
  enum Field {
    static let severity = Int32(UInt8(ascii: "V"))
    static let state = Int32(UInt8(ascii: "C"))
    static let message = Int32(UInt8(ascii: "M"))
    static let function = Int32(UInt8(ascii: "R"))
  }

  /// What libpq says where it, or the server, refuses the other end; an end that is cut off in the middle
  /// is another thing: "SSL SYSCALL error: EOF detected", "SSL connection has been closed".
  private static let refusalsOfTLS = [
    "certificate", "private key", "SSL error: ", "does not support SSL",
  ]

  private var stage: Stage
  /// PostgreSQL's code of the error; empty where the server said nothing.
  let state: String
  private let message: String
  /// Whether the server has ended the session by it.
  let isFatal: Bool
  /// Why the call was not made, if that has nothing to do with PostgreSQL.
  private var cause: StorageError?

  /// A call that was not made.
  init(_ cause: StorageError) {
    (stage, state, message, isFatal) = (.connecting, "", cause.message, false)
    self.cause = cause
  }

  /// A call to which the server says this.
  init(_ result: OpaquePointer?) {
    stage = .asking
    state = unsafe Self.field(Field.state, of: result)
    let severity = unsafe Self.field(Field.severity, of: result)
    message = unsafe Self.field(Field.message, of: result)
    // Without a state libpq itself says it.
    isFatal = state.isEmpty || severity == "FATAL" || severity == "PANIC"
  }

  /// A connection that failed, with libpq's text.
  init(_ text: String, while stage: Stage) {
    self.stage = stage
    // "...: FATAL:  28P01: password authentication failed ..."
    if let match = text.firstMatch(of: /:  ([0-9A-Z]{5}): ([^\n]*)/) {
      (state, message) = (String(match.1), String(match.2))
    } else {
      state = ""
      message = text.split(separator: "\n").first.map(String.init) ?? "the connection was closed"
    }
    isFatal = true
  }

  /// A call without an answer in its time.
  init(ofTimeWhile stage: Stage) {
    self.stage = stage
    (state, message, isFatal) = ("", "there was no answer in time", true)
  }

  /// The same, where the statement itself was not sent.
  var beforeAsking: PostgresFailure {
    var failure = self
    failure.stage = .connecting
    return failure
  }

  /// A host that can't be written to, or a commit with a warning.
  init(_ stage: Stage, saying message: String) {
    (self.stage, state, self.message, isFatal) = (stage, "", message, true)
  }

  /// The text of a field of a message; empty if there is none.
  static func field(_ field: Int32, of result: OpaquePointer?) -> String {
    unsafe sps_PQresultErrorField(result, field).map { unsafe SystemText.shown($0) } ?? ""
  }

  var kind: Kind {
    if let cause { return .refused(cause.code, cause.message) }
    switch state {
    // serialization_failure, unique_violation, deadlock_detected: all has been undone.
    case "40001", "23505", "40P01": return .disturbed
    // read_only_sql_transaction: a standby, or one that has become it; cannot_connect_now;
    // too_many_connections.
    case "25006", "57P03", "53300": return .notDone
    case "42501":
      return .refused(
        .denied, "the database does not let this role use the tables; grant it the schema's role")
    case "3D000": return .refused(.invalid, "the server has no such database")
    case "3F000", "42P01":
      return .refused(
        .unavailable,
        "the database has no tables for stores in this schema; let its owner run PostgresSchema's migration, "
          + "which securestore init --sql prints"
      )
    // A server that ends by it, as without room for its log, may have made the commit before.
    case "53100" where !isFatal, "53000" where !isFatal:
      return .refused(.full, "the server's disk is full")
    case "55P03":
      return .refused(.busy, "somebody else holds a lock on the same rows or the table; try again")
    case "57014":
      return .refused(
        .timedOut, "the server ended the statement, as by its statement_timeout; nothing was done")
    case "22P05":
      return .refused(
        .invalid,
        "the name of the store or of its schema has characters that the database's encoding lacks")
    case "54000": return .refused(.invalid, "the write is larger than PostgreSQL takes")
    default: break
    }
    if state.hasPrefix("28") {
      return .refused(.denied, "PostgreSQL refuses the role, its password or its certificate")
    }
    if ["42", "22", "23", "XX", "0A", "P0"].contains(state.prefix(2)), !isFatal {
      return .refused(
        .damaged, "the tables in the database are not those that this program's migration makes")
    }
    if stage == .connecting, state.isEmpty {
      // libpq says nothing else of what it refuses by itself; before that it names the host.
      let reason = message.split(separator: " failed: ").last ?? ""
      if Self.refusalsOfTLS.contains(where: reason.contains), !reason.contains("unexpected eof") {
        return .refused(.denied, "the connection can't be encrypted as it must be")
      }
      if reason.contains("no password supplied") {
        return .refused(
          .denied,
          "PostgreSQL asks for a password, and there is none: write it into a passfile with the mode 0600, or "
            + "use --postgres-password-command, in a program PostgresConfiguration.password")
      }
    }
    if stage == .connecting { return .notDone }
    return isFatal ? .unknown : .refused(.io, "PostgreSQL refuses it")
  }

  /// The error of settings that libpq refuses; only what it says of a service shows no password.
  static func ofSettings(_ message: String) -> StorageError {
    let ofService = ["definition of service", "service file", "syntax error in service file"]
    guard ofService.contains(where: message.hasPrefix) else {
      return StorageError(
        .invalid,
        "libpq does not understand the connection; it is written like host=db1,db2 dbname=shop, or as "
          + "a URL postgresql://db1,db2/shop")
    }
    return StorageError(
      .invalid,
      "libpq can't use the service of the connection: \(message.split(separator: "\n").first ?? "")"
    )
  }

  /// The error of a call after which nothing more is tried.
  func error(of call: Call, at title: String) -> StorageError {
    if let cause { return cause }
    let said = state.isEmpty ? message : "\(message), \(state)"
    return switch kind {
    case .notDone:
      StorageError(
        .unavailable, "no server of PostgreSQL could be asked, so nothing was done: \(said)",
        path: title)
    case .disturbed:
      StorageError(
        .busy, "others kept writing the same rows; nothing was written. Try again", path: title)
    case .refused(let code, let text): StorageError(code, "\(text) (\(said))", path: title)
    case .unknown:
      switch call {
      case .read: StorageError(.unavailable, "PostgreSQL did not answer: \(said)", path: title)
      case .write:
        StorageError(
          .outcomeUnknown, "PostgreSQL's answer to the write was lost: \(said)", path: title)
      }
    }
  }
}
