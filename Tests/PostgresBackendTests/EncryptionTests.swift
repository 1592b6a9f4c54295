import Foundation
import PostgresBackend
import RemoteTesting
import StorageTesting
import TestSupport
import Testing

/// Connections over TLS, whose ends know each other by certificates.
struct EncryptionTests {
  /// How a role connects that checks the server, and shows a certificate of its own.
  private func connection(
    _ cluster: PostgresCluster, showing client: TestAuthority?, trusting trusted: TestAuthority,
    role: String = "client"
  ) -> String {
    let files = client.map {
      "sslcert=\($0.file("client.pem").path) sslkey=\($0.file("client.key").path)"
    }
    return cluster.connection(role) + " \(files ?? "") password=marker-of-a-secret "
      + "sslmode=verify-full sslrootcert=\(trusted.file("ca.pem").path)"
  }

  private func storage(_ connection: String, deadline: Duration = .seconds(60)) -> PostgresStorage {
    PostgresStorage(
      PostgresConfiguration(connection, store: "t", deadline: deadline),
      keySource: .key(SymmetricKey(data: Data(repeating: 7, count: 32))))
  }

  private func failure(_ connection: String, _ deadline: Duration = .seconds(60)) -> StorageError? {
    thrown { try storage(connection, deadline: deadline).refresh() }
  }

  /// With the usual deadline of a minute nobody would wait for any of these.
  private func expectDenied(_ name: String, _ connection: String, _ text: String) {
    let begin = ContinuousClock.now
    let error = failure(connection)
    #expect(error?.code == .denied, "\(name)")
    let message = error?.message ?? "-"
    #expect(message.contains(text), "\(name): \(message)")
    #expect(!message.contains("marker-of"), "\(name): \(message)")
    #expect(ContinuousClock.now - begin < .seconds(20), "\(name)")
  }

  @Test func bothEndsAreCheckedAndWhatCanNeverSucceedIsDeniedAtOnce() throws {
    let (authority, other) = (try TestAuthority(), try TestAuthority())
    let cluster = try PostgresCluster(authority: authority)
    for role in ["client", "stranger"] {
      try cluster.sql("CREATE ROLE \(role) LOGIN IN ROLE securestore_writer")
    }
    let own = connection(cluster, showing: authority, trusting: authority)
    let program = storage(own)
    try program.create()
    try program.save("a", forKey: "k")
    #expect(
      try cluster.sql(
        "SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'client'"
      ) == ["t"])

    let open = authority.file("open.key")
    try FileManager.default.copyItem(at: authority.file("client.key"), to: open)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: open.path)
    for (name, connection, text) in [
      (
        "a stranger's server", connection(cluster, showing: authority, trusting: other),
        "verify failed"
      ),
      ("a stranger's client", connection(cluster, showing: other, trusting: authority), "alert"),
      ("no client", connection(cluster, showing: nil, trusting: authority), "28000"),
      (
        "another role",
        connection(cluster, showing: authority, trusting: authority, role: "stranger"), "28000"
      ),
      ("no TLS", cluster.connection("client") + " sslmode=disable", "28000"),
      ("a key that all can read", own + " sslkey=\(open.path)", "private key"),
      ("no authority", own + " sslrootcert=/nowhere.pem", "/nowhere.pem"),
      (
        "a server without TLS", try SharedCluster.one().connection() + " sslmode=require",
        "does not support SSL"
      ),
    ] {
      expectDenied(name, connection, text)
    }
    let client = try TestAuthority(
      days: -1, of: "client", names: "DNS:elsewhere.example")
    for (name, shown, settings, text) in [
      ("an expired server", try TestAuthority(days: -1), "", "verify failed"),
      ("another name", client, "", "does not match"),
      ("an expired client", client, " sslmode=verify-ca", "expired"),
    ] {
      try cluster.show(shown)
      expectDenied(
        name, connection(cluster, showing: shown, trusting: shown) + settings, text)
    }
    try cluster.show(authority)
    try program.save("b", forKey: "k")
    #expect(try storage(own, deadline: .seconds(59)).load(String.self, forKey: "k") == "b")
  }

  @Test func anEndThatIsCutOffInTheMiddleIsAwayAndNotDenied() throws {
    // To the question for TLS this says yes.
    let server = OddServer("S")
    defer { server.end() }
    let connection = "host=127.0.0.1 port=\(server.port) user=x dbname=x sslmode=require"
    #expect(failure(connection, .seconds(1))?.code == .unavailable)
  }
}
