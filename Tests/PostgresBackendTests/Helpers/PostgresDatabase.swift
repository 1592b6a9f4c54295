import Foundation
import PostgresBackend
import RemoteTesting
import StorageTesting
import TestSupport
import Testing

/// The tables of stores in a database, as a test uses them.
protocol PostgresDatabase: FleetEngine {
  var server: PostgresCluster { get }
  var schema: String { get }
}

extension PostgresDatabase {
  /// The folder of the servers' data and logs.
  var folder: URL { server.folder }
  var path: String { server.folder.path }

  /// The ports of the servers.
  var ports: [Int] { server.ports }

  /// How a role connects to the servers, or through other ports.
  func connection(_ role: String = "postgres", ports: [Int]? = nil) -> String {
    let ports = ports ?? self.ports
    let hosts = ports.map { _ in "127.0.0.1" }.joined(separator: ",")
    let numbers = ports.map(String.init).joined(separator: ",")
    return "host=\(hosts) port=\(numbers) user=\(role) dbname=postgres"
  }

  /// Runs SQL at a server as its superuser, and gives what it says; `securestore` is the schema's name.
  @discardableResult
  func sql(_ text: String, at index: Int = 0) throws -> [String] {
    try Child.run([
      "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d",
      connection(ports: [ports[index]]), "-c", text.replacing("securestore", with: schema),
    ])
  }

  func backUp() throws -> String {
    let file = "\(path)/\(UUID()).dump"
    _ = try Child.run(["pg_dump", "-n", schema, "-f", file, "-d", connection()])
    return file
  }

  func goBack(to dump: String) throws {
    try sql("DROP SCHEMA securestore CASCADE")
    _ = try Child.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", connection(), "-f", dump])
  }

  /// Begins a transaction with a statement, and leaves it open.
  func hold(_ statement: String) throws -> Holder {
    try Holder(
      connection(ports: [ports[0]]), statement.replacing("securestore", with: schema))
  }

  /// A store, of a program that connects through a port of its own or else to the servers.
  func storage(
    _ store: String = "t", role: String = "postgres", port: Int? = nil,
    deadline: Duration = .seconds(60), reading: RemoteReading = .cached
  ) -> PostgresStorage {
    PostgresStorage(
      PostgresConfiguration(
        connection(role, ports: port.map { [$0] }), store: store, schema: schema,
        deadline: deadline),
      keySource: .key(SymmetricKey(data: Data(repeating: 7, count: 32))), reading: reading)
  }

  func store(
    _ name: String, keySource: KeySource, deadline: Duration, reading: RemoteReading,
    copy: DelegatedStorage?, port: Int?
  ) -> RemoteStorage {
    PostgresStorage(
      PostgresConfiguration(
        connection(ports: port.map { [$0] }), store: name, schema: schema, deadline: deadline,
        copy: copy), keySource: keySource, reading: reading)
  }

  func start(_ name: String, _ command: [String]) throws -> Child {
    try HelperProgram("PostgresTestChild").start([connection(), name, "60000"] + command)
  }

  func removal(of name: String) -> String {
    "UPDATE \"\(schema)\".rows SET value = NULL, version = pg_current_xact_id() "
      + "WHERE store = '\(name.replacing("'", with: "''"))'"
  }

  func remove(_ name: String) throws { try sql(removal(of: name)) }

  func holds(_ name: String) throws -> Bool {
    try !sql("SELECT 1 FROM securestore.rows WHERE store = '\(name)'").isEmpty
  }
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

  /// Goes on with a statement, and waits for its end.
  func say(_ statement: String) throws {
    var line = try child.ask("\(statement) \\echo said")
    while let said = line, said != "said" { line = child.nextLine() }
  }
}

/// The server of the tests that kill nothing and change no setting of all.
enum SharedCluster {
  fileprivate static let shared = Lock<(cluster: PostgresCluster?, schemas: Int)>((nil, 0))

  static func one() throws -> PostgresCluster {
    try shared.withLock { shared in
      if let cluster = shared.cluster { return cluster }
      let new = try PostgresCluster(fsync: true)
      shared.cluster = new
      // Nothing else ends the processes of a server that is never released.
      atexit { SharedCluster.shared.withLock { $0.cluster = nil } }
      return new
    }
  }

  /// Tables of its own on it, for a test that changes or locks them.
  static func tables() throws -> OwnTables {
    let number = shared.withLock { shared in
      shared.schemas += 1
      return shared.schemas
    }
    let new = OwnTables(server: try one(), schema: "tables\(number)")
    try new.sql(PostgresSchema.migration())
    return new
  }
}

/// Tables beside others in the database of a server.
struct OwnTables: PostgresDatabase {
  let server: PostgresCluster
  let schema: String
}
