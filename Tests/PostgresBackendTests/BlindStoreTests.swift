import Foundation
import PostgresBackend
import RemoteTesting
import StorageTesting
import TestSupport
import Testing

/// What those see who run PostgreSQL or listen on the way.
struct BlindStoreTests {
  @Test func theTrafficTheLogTheDumpAndTheDiskHoldNoNameAndNoValue() throws {
    let cluster = try SharedCluster.tables()
    try cluster.sql("CREATE ROLE logged LOGIN IN ROLE securestore_writer")
    for setting in [
      "log_statement = 'all'", "log_parameter_max_length = -1",
      "log_parameter_max_length_on_error = -1", "log_min_duration_statement = 0",
    ] {
      try cluster.sql("ALTER ROLE logged SET \(setting)")
    }
    let proxy = FaultProxy(to: cluster.ports[0])
    defer { proxy.end() }
    proxy.capture()
    func program(_ deadline: Int) -> PostgresStorage {
      cluster.storage(
        "visible-store", role: "logged", port: proxy.port, deadline: .seconds(deadline))
    }
    let one = program(60)
    try one.create()
    let two = program(59)
    try two.open(.mustExist)
    try one.save("marker-of-a-value", forKey: "marker-of-a-name")
    try one.acknowledge(as: "marker-of-a-machine")
    while try two.load(String.self, forKey: "marker-of-a-name") == nil { usleep(1_000) }
    _ = try one.keyAdministration.rotateDataKey()
    try one.delete(forKey: "marker-of-a-name")
    let dump = try cluster.backUp()
    try cluster.sql("CHECKPOINT")
    // As bytes, and as the server writes bytes into a text.
    let hex = "marker-of".utf8.map { String($0, radix: 16) }.joined()
    for text in ["marker-of", hex, "0707070707070707"] {
      let found = try Child.run(
        ["grep", "-r", "-l", "-a", "-F", text, cluster.path], mayFail: true)
      #expect(found.isEmpty, "\(text) in \(found)")
      #expect(proxy.captured.range(of: Data(text.utf8)) == nil)
    }
    for place in [dump, cluster.path + "/log0"] {
      #expect(
        try Child.run(["grep", "-c", "visible-store", place]) != ["0"],
        "the search finds what is there")
    }
    #expect(proxy.captured.range(of: Data("visible-store".utf8)) != nil)
  }

  @Test func rowsUnderAnotherNameDontOpen() throws {
    let cluster = try SharedCluster.one()
    let one = cluster.storage("from")
    try one.create()
    try one.save("1", forKey: "k")
    try cluster.sql(
      "INSERT INTO securestore.rows SELECT 'to', key, value, version FROM securestore.rows WHERE store = 'from'"
    )
    let other = cluster.storage("to")
    let error = #expect(throws: StorageError.self) { try other.open(.mustExist) }
    #expect(error?.code == .wrongKey || error?.code == .damaged)
  }
}
