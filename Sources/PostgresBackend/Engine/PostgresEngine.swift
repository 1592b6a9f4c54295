internal import CryptoCore
internal import Dispatch
internal import Glibc
internal import RemoteBackend
internal import StorageCore

/// A store's rows in PostgreSQL.
///
/// One host is used until it fails. A call tries the hosts in turn until the deadline. It is tried again
/// only where nothing was done. A statement whose answer does not come is left alone and never
/// cancelled: a cancelled wait for a standby looks like a success.
final class PostgresEngine: RemoteEngine {
  /// The most connections for calls; one more is for the watch.
  private static let most = 8

  let title: String
  /// The hosts, as errors show them.
  let hostTexts: [String]
  let limits = RemoteLimits(operations: 1_000, bytes: 16 << 20)
  let store: String
  let schema: String
  let statements: PostgresStatements
  let isReadOnly: Bool
  private let connection: String
  private let hosts: [[(String, String)]]
  private let saysCautions: Bool
  private let password: (@Sendable () throws(StorageError) -> SecureBytes)?
  let process = OwnProcess()
  private let turns = DispatchSemaphore(value: most)
  private let state = Lock(State())

  private struct State {
    /// The host that is asked, as an index.
    var current = 0
    var free: [PostgresConnection] = []
    /// How often all hosts were asked in vain since one answered.
    var failures = 0
    /// What was said last of commits that are not synchronous.
    var caution: String?
  }

  /// The rows of a store.
  ///
  /// - Throws: `invalid` for a connection that libpq does not understand.
  init(_ configuration: PostgresConfiguration) throws(StorageError) {
    connection = configuration.connection
    password = configuration.password
    (store, schema) = (configuration.store, configuration.schema)
    isReadOnly = configuration.access == .readOnly
    saysCautions = configuration.saysCautions
    statements = PostgresStatements(schema: schema)
    let (hosts, database) = try PostgresConnection.hosts(of: [("dbname", connection)])
    self.hosts = hosts
    hostTexts = hosts.map { $0.map(\.1).filter { !$0.isEmpty }.joined(separator: ":") }
    title = "postgresql://\(hostTexts.joined(separator: ","))/\(database)#\(store)"
  }

  // MARK: Calls

  /// Makes a call on a connection of its own, and tries it again where nothing was done.
  ///
  /// - Parameters:
  ///   - call: what may have been changed when the answer is lost.
  ///   - deadline: the end of all attempts.
  ///   - body: one attempt.
  /// - Returns: what `body` returns.
  /// - Throws: `StorageError`: at the deadline what the last host said.
  func call<Result>(
    _ call: PostgresFailure.Call, by deadline: Deadline,
    _ body: (PostgresConnection) throws(PostgresFailure) -> Result
  ) throws(StorageError) -> Result {
    try require(process, of: "PostgreSQL")
    guard turns.wait(timeout: .now() + .nanoseconds(Int(deadline.nanoseconds))) == .success else {
      throw StorageError(
        .timedOut, "other threads wait for the database, which did not answer in time; try again",
        path: title)
    }
    defer { turns.signal() }
    var (refusals, disturbances) = (0, 0)
    while true {
      let failure: PostgresFailure
      var asked: PostgresConnection?
      let current = state.withLock { $0.current }
      do throws(PostgresFailure) {
        let connection = try takeConnection(current, by: deadline)
        asked = connection
        let result = try body(connection)
        give(connection)
        return result
      } catch {
        failure = error
      }
      if let asked { give(asked) }
      switch failure.kind {
      case .refused where asked != nil: throw failure.error(of: call, at: title)
      case .refused:
        // Another host may have other rules.
        refusals += 1
        leave(current)
        if refusals >= hosts.count { throw failure.error(of: call, at: title) }
      case .unknown where call == .write:
        leave(current)
        throw failure.error(of: call, at: title)
      case .disturbed:
        disturbances += 1
        // Writers of the same rows don't meet again at the same moment; nothing signals when they are done.
        usleep(UInt32.random(in: 0...UInt32(min(disturbances, 20)) * 500))
      case .notDone, .unknown:
        leave(current)
        // Once all hosts were asked.
        let failures = state.withLock { state -> Int? in
          guard state.current == 0 else { return nil }
          defer { state.failures += 1 }
          return state.failures
        }
        if let failures { pause(after: failures, atMost: 1_000_000, by: deadline) }
      }
      guard !deadline.isOver else { throw failure.error(of: call, at: title) }
    }
  }

  private func takeConnection(
    _ host: Int, by deadline: Deadline
  ) throws(PostgresFailure) -> PostgresConnection {
    while let known = state.withLock({ $0.free.popLast() }) {
      if known.host == host, known.isAlive { return known }
    }
    return try connect(host, by: deadline)
  }

  private func give(_ connection: PostgresConnection) {
    guard !connection.isBroken else { return }
    state.withLock { state in
      if state.failures > 0 { state.failures = 0 }
      if connection.host == state.current { state.free.append(connection) }
    }
  }

  /// A new connection to the host that is asked, for somebody who keeps it.
  func connect(by deadline: Deadline) throws(StorageError) -> PostgresConnection {
    try require(process, of: "PostgreSQL")
    let current = state.withLock { $0.current }
    do throws(PostgresFailure) { return try connect(current, by: deadline) } catch {
      throw failed(error, at: current)
    }
  }

  /// Connects to a host, if it can be written to or whatever it is.
  func connect(
    _ host: Int, writing: Bool = true, by deadline: Deadline
  ) throws(PostgresFailure) -> PostgresConnection {
    // Which host is used is decided here: libpq never leaves a first host that is stopped.
    let settings =
      [("dbname", connection), ("fallback_application_name", "securestore")] + hosts[host]
      + [("target_session_attrs", writing ? "read-write" : "any"), ("client_encoding", "UTF8")]
    let secret: SecureBytes?
    do throws(StorageError) { secret = try password?() } catch { throw PostgresFailure(error) }
    return try PostgresConnection(settings, password: secret, host: host, by: deadline)
  }

  /// The error of a watch that failed at a host; another one is asked next.
  func failed(_ failure: PostgresFailure, at host: Int) -> StorageError {
    leave(host)
    return failure.error(of: .read, at: title)
  }

  /// Asks another host from now on.
  private func leave(_ host: Int) {
    state.withLock { state in
      guard state.current == host else { return }
      state.current = (host + 1) % hosts.count
      state.free = []
    }
  }

  /// Says once when commits that were acknowledged may be lost.
  func note(_ caution: String?) {
    let isNew = state.withLock { state in
      defer { state.caution = caution }
      return caution != nil && state.caution != caution
    }
    guard isNew, saysCautions, let caution else { return }
    StorageDiagnostics.report(StorageError(.configurationConflict, caution, path: title))
  }
}
