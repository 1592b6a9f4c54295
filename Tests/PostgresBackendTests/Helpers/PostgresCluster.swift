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
  /// What runs the servers' programs, such as where their disk is seen.
  private let prefix: [String]
  /// `synchronous_standby_names` of a primary.
  private let standbyNames: String

  /// Where Debian keeps the server's programs.
  private static let programs: String = {
    let lines = (try? Child.run(["pg_config", "--bindir"])) ?? []
    return lines.first ?? "/usr/lib/postgresql/15/bin"
  }()

  /// Starts a primary with standbys that confirm its commits, and waits until it answers.
  ///
  /// Without synchronous commits the standbys confirm nothing. With an authority connections can be
  /// encrypted, and the roles `client` and `stranger` must show a certificate of its making. The role
  /// `p` needs a password. Servers end and the machine does not, so what they write need not be on the
  /// disk; a server that thinks otherwise looks through its whole folder after a crash.
  init(
    standbys: Int = 0, isSynchronous: Bool = true, authority: TestAuthority? = nil,
    prefix: [String] = [], fsync: Bool = false
  ) throws {
    options =
      ["fsync=\(fsync ? "on" : "off")"]
      + (authority == nil ? [] : ["ssl=on", "ssl_ca_file=root.crt"])
    self.prefix = prefix
    standbyNames = standbys > 0 && isSynchronous ? "ANY 1 (*)" : ""
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    if getuid() == 0 { _ = try Child.run(["chown", "postgres:", folder.path]) }
    try run(
      "initdb", "-D", data(0).path, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync")
    try """
    local all all trust
    hostssl all client,stranger 127.0.0.1/32 cert
    hostnossl all client,stranger 127.0.0.1/32 reject
    host all p 127.0.0.1/32 scram-sha-256
    host all,replication all 127.0.0.1/32 trust

    """.write(to: data(0).appendingPathComponent("pg_hba.conf"), atomically: false, encoding: .utf8)
    if let authority { try install(authority) }
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

  /// The ports of the servers.
  var ports: [Int] { servers.map(\.port) }

  /// PostgreSQL refuses to be run by root.
  static var asUser: [String] {
    getuid() == 0
      ? ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"] : []
  }

  @discardableResult
  private func run(_ program: String, _ arguments: String...) throws -> [String] {
    try Child.run(Self.asUser + ["\(Self.programs)/\(program)"] + arguments)
  }

  /// Shows the certificates of an authority in connections to the first server from now on.
  func show(_ authority: TestAuthority) throws {
    try install(authority)
    let time = "SELECT pg_conf_load_time()"
    let before = try sql(time)
    try sql("SELECT pg_reload_conf()")
    while try sql(time) == before { usleep(1_000) }
  }

  private func install(_ authority: TestAuthority) throws {
    let owner = getuid() == 0 ? ["-o", "postgres"] : []
    for (name, copy) in [
      ("server.pem", "server.crt"), ("server.key", "server.key"), ("ca.pem", "root.crt"),
    ] {
      let paths = [authority.file(name).path, data(0).appendingPathComponent(copy).path]
      _ = try Child.run(["install", "-m", "600"] + owner + paths)
    }
  }

  /// Moves the log of the first server, which is not running, to an empty folder.
  func moveLog(to folder: String) throws {
    let log = data(0).appendingPathComponent("pg_wal").path
    _ = try Child.run(
      prefix + Self.asUser + [
        "sh", "-c", "cp -R \"$0/.\" \"$1\" && rm -r \"$0\" && ln -s \"$1\" \"$0\"", log, folder,
      ])
  }

  /// Starts a server with the data that it has, and waits until it answers.
  func start(_ index: Int) throws {
    let settings = [
      "port=\(servers[index].port)", "listen_addresses=127.0.0.1",
      "unix_socket_directories=\(folder.path)", "max_connections=200", "shared_buffers=32MB",
    ]
    servers[index].process = try Child(
      prefix + Self.asUser + [
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
}

extension PostgresCluster: PostgresDatabase {
  var server: PostgresCluster { self }
  var schema: String { "securestore" }
}
