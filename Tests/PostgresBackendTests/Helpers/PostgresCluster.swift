import Foundation
import PostgresBackend
import RemoteTesting
import StorageTesting
import TestSupport
import Testing

/// A real PostgreSQL server on this machine, perhaps with standbys, in a folder of its own, which goes
/// away with it.
final class PostgresCluster: @unchecked Sendable {
  // One test uses it at a time.
  private struct Server {
    let port: Int
    var process: Child?
  }
  let folder: URL
  private var servers: [Server] = []
  private let options: [String]
  /// `synchronous_standby_names` of a primary.
  private let standbyNames: String

  /// Where Debian keeps the server's programs.
  private static let programs: String = {
    let lines = (try? Child.run(["pg_config", "--bindir"])) ?? []
    return lines.first ?? "/usr/lib/postgresql/15/bin"
  }()

  /// Starts a primary with standbys that confirm its commits, and waits until it answers.
  ///
  /// Without synchronous commits the standbys confirm nothing.
  init(standbys: Int = 0, isSynchronous: Bool = true, options: [String] = []) throws {
    self.options = options
    standbyNames = standbys > 0 && isSynchronous ? "ANY 1 (*)" : ""
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    if getuid() == 0 { _ = try Child.run(["chown", "postgres:", folder.path]) }
    try run(
      "initdb", "-D", data(0).path, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync")
    servers = FreePorts.find(1 + standbys).map { Server(port: $0) }
    try start(0)
    for index in servers.indices.dropFirst() {
      try copy(0, to: index)
      try start(index)
    }
    if !standbyNames.isEmpty {
      try sql("ALTER SYSTEM SET synchronous_standby_names = '\(standbyNames)'")
      try sql("SELECT pg_reload_conf()")
    }
    try sql(PostgresSchema.migration())
  }

  deinit {
    for index in servers.indices { kill(index) }
    try? FolderRemoval.remove(folder)
  }

  private func data(_ index: Int) -> URL { folder.appendingPathComponent("d\(index)") }

  /// The folder of the servers' data and logs.
  var path: String { folder.path }

  /// The ports of the servers.
  var ports: [Int] { servers.map(\.port) }

  /// How a role connects to the servers, the first or all of them.
  func connection(_ role: String = "postgres", ports: [Int]? = nil) -> String {
    let ports = ports ?? self.ports
    let hosts = ports.map { _ in "127.0.0.1" }.joined(separator: ",")
    let numbers = ports.map(String.init).joined(separator: ",")
    return "host=\(hosts) port=\(numbers) user=\(role) dbname=postgres"
  }

  /// PostgreSQL refuses to be run by root.
  fileprivate static var asUser: [String] {
    getuid() == 0
      ? ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"] : []
  }

  @discardableResult
  private func run(_ program: String, _ arguments: String...) throws -> [String] {
    try Child.run(Self.asUser + ["\(Self.programs)/\(program)"] + arguments)
  }

  /// Starts a server with the data that it has, and waits until it answers.
  func start(_ index: Int) throws {
    let settings = [
      "port=\(servers[index].port)", "listen_addresses=127.0.0.1",
      "unix_socket_directories=\(folder.path)", "max_connections=200", "shared_buffers=32MB",
    ]
    servers[index].process = try Child(
      Self.asUser + [
        "sh", "-c", "exec \"$@\" >>\(folder.path)/log\(index) 2>&1", "sh",
        "\(Self.programs)/postgres", "-D", data(index).path,
      ] + (settings + options).flatMap { ["-c", $0] })
    for _ in 0..<600 {
      let answer = try? Child.run(
        [
          "sh", "-c",
          "\(Self.programs)/pg_isready -q -h 127.0.0.1 -p \(servers[index].port) && echo yes",
        ], mayFail: true)
      if answer == ["yes"] { return }
      guard servers[index].process?.isRunning == true else { break }
      usleep(50_000)
    }
    throw CocoaError(.executableLoad)
  }

  /// Ends a server at once, as a crash does, and waits for that.
  func kill(_ index: Int) {
    servers[index].process?.send(SIGCONT)
    servers[index].process?.send(SIGQUIT)
    _ = try? servers[index].process?.lines(mayFail: true)
    servers[index].process = nil
  }

  /// Stops a server with all its processes, which keep their connections, or lets it go on.
  func stop(_ index: Int, isOver: Bool = false) throws {
    guard let process = servers[index].process else { return }
    let signal = isOver ? "CONT" : "STOP"
    _ = try Child.run(
      [
        "sh", "-c", "kill -\(signal) $1 $(pgrep -P $1)", "sh", "\(process.processIdentifier)",
      ], mayFail: true)  // one may end meanwhile
  }

  /// Makes the standby that is furthest the primary, and lets the others follow it.
  ///
  /// - Returns: the new primary.
  func promote(insteadOf old: Int) throws -> Int {
    let standbys = servers.indices.filter { $0 != old && servers[$0].process != nil }
    func position(_ index: Int) throws -> Int {
      try Int(
        sql("SELECT pg_wal_lsn_diff(pg_last_wal_receive_lsn(), '0/0')::bigint", at: index)[0])!
    }
    let new = try standbys.max { try position($0) < position($1) }!
    for index in standbys where index != new {
      try sql(
        "ALTER SYSTEM SET primary_conninfo = 'host=127.0.0.1 port=\(servers[new].port) user=postgres'",
        at: index)
    }
    try sql("ALTER SYSTEM SET synchronous_standby_names = '\(standbyNames)'", at: new)
    try sql("SELECT pg_promote()", at: new)
    for index in standbys { try sql("SELECT pg_reload_conf()", at: index) }
    return new
  }

  /// Makes a server that was the primary a standby of another, without the data that it had.
  func rejoin(_ index: Int, to primary: Int) throws {
    kill(index)
    try FileManager.default.removeItem(at: data(index))
    try copy(primary, to: index)
    try start(index)
  }

  private func copy(_ primary: Int, to index: Int) throws {
    try run(
      "pg_basebackup", "-D", data(index).path, "-R", "-c", "fast", "-X", "stream", "-d",
      "host=127.0.0.1 port=\(servers[primary].port) user=postgres application_name=s\(index)")
  }

  /// Runs SQL at a server as its superuser, and gives what it says.
  @discardableResult
  func sql(_ text: String, at index: Int = 0) throws -> [String] {
    try Child.run([
      "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d",
      connection(ports: [servers[index].port]), "-c", text,
    ])
  }

  /// Lets all roles but the superuser show a password from now on.
  func requirePasswords() throws {
    try """
    host all postgres 127.0.0.1/32 trust
    host all all 127.0.0.1/32 scram-sha-256
    """.write(to: data(0).appendingPathComponent("pg_hba.conf"), atomically: false, encoding: .utf8)
    try sql("SELECT pg_reload_conf()")
  }

  /// A transaction that somebody else has begun and does not end.
  final class Holder {
    private let child: Child

    fileprivate init(_ connection: String, _ statement: String) throws {
      child = try Child(["psql", "-X", "-q", "-A", "-t", "-d", connection])
      try say("BEGIN; \(statement);")
    }

    /// Ends the transaction.
    func release() { #expect(throws: Never.self) { try say("ROLLBACK;") } }

    private func say(_ statement: String) throws {
      var line = try child.ask("\(statement) \\echo said")
      while let said = line, said != "said" { line = child.nextLine() }
    }
  }

  /// Begins a transaction with a statement, and leaves it open.
  func hold(_ statement: String) throws -> Holder {
    try Holder(connection(ports: [ports[0]]), statement)
  }

  /// A store.
  func storage(
    _ store: String = "t", key: UInt8 = 7, deadline: Duration = .seconds(60),
    reading: RemoteReading = .cached, access: StoreAccess = .mustExist
  ) -> PostgresStorage {
    PostgresStorage(
      PostgresConfiguration(connection(), store: store, access: access, deadline: deadline),
      keySource: .key(SymmetricKey(data: Data(repeating: key, count: 32))), reading: reading)
  }
}

extension PostgresCluster: FleetEngine {
  func store(_ name: String, deadline: Duration, reading: RemoteReading) -> RemoteStorage {
    storage(name, deadline: deadline, reading: reading)
  }

  func holds(_ name: String) throws -> Bool {
    try !sql("SELECT 1 FROM securestore.rows WHERE store = '\(name)'").isEmpty
  }
}

/// One server for the tests that only need any.
enum SharedCluster {
  fileprivate static let shared = Lock<PostgresCluster?>(nil)

  static func one() throws -> PostgresCluster {
    try shared.withLock { cluster in
      if let cluster { return cluster }
      let new = try PostgresCluster()
      cluster = new
      // Nothing else ends the processes of a server that is never released.
      atexit { SharedCluster.shared.withLock { $0 = nil } }
      return new
    }
  }
}

/// PgBouncer in front of the first server.
final class Pooler {
  private let process: Child
  /// How a program connects to it.
  let connection: String

  /// Starts it, and waits until it answers.
  init(_ cluster: PostgresCluster, mode: String) throws {
    let port = FreePorts.find(1)[0]
    connection = cluster.connection(ports: [port])
    let folder = cluster.folder
    let (settings, users) = (
      folder.appendingPathComponent("pooler.ini"), folder.appendingPathComponent("users")
    )
    try """
    [databases]
    * = host=127.0.0.1 port=\(cluster.ports[0])
    [pgbouncer]
    listen_addr = 127.0.0.1
    listen_port = \(port)
    unix_socket_dir =
    auth_type = trust
    auth_file = \(users.path)
    pool_mode = \(mode)
    default_pool_size = 20
    """.write(to: settings, atomically: false, encoding: .utf8)
    try "\"postgres\" \"\"\n".write(to: users, atomically: false, encoding: .utf8)
    process = try Child(
      PostgresCluster.asUser + [
        "sh", "-c", "exec \"$@\" >>\(folder.path)/pooler.log 2>&1", "sh", "pgbouncer", "-q",
        settings.path,
      ])
    for _ in 0..<600 {
      let answer = try? Child.run(
        ["psql", "-X", "-q", "-A", "-t", "-d", connection, "-c", "SELECT 'yes'"], mayFail: true)
      if answer == ["yes"] { return }
      usleep(50_000)
    }
    throw CocoaError(.executableLoad)
  }

  deinit {
    process.kill()
    _ = try? process.lines(mayFail: true)
  }
}
