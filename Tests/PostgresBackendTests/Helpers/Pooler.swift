import Foundation
import RemoteTesting
import TestSupport

/// PgBouncer in front of the first server.
final class Pooler {
  private let process: Child
  let port: Int

  /// Starts it, and waits until it answers.
  init(_ database: some PostgresDatabase, mode: String) throws {
    port = FreePorts.find(1)[0]
    let folder = database.folder
    let (settings, users) = (
      folder.appendingPathComponent("pooler-\(mode).ini"),
      folder.appendingPathComponent("users-\(mode)")
    )
    try """
    [databases]
    * = host=127.0.0.1 port=\(database.ports[0])
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
        "sh", "-c", "exec \"$@\" >>\(folder.path)/pooler-\(mode).log 2>&1", "sh", "pgbouncer", "-q",
        settings.path,
      ])
    for _ in 0..<600 {
      let answer = try? Child.run(
        [
          "psql", "-X", "-q", "-A", "-t", "-d", database.connection(ports: [port]), "-c",
          "SELECT 'yes'",
        ], mayFail: true)
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
