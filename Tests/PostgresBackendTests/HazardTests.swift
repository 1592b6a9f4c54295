import Foundation
import PostgresBackend
import RemoteTesting
import StorageTesting
import TestSupport
import Testing

/// What PostgreSQL, its administrators and other programs do to a store.
struct HazardTests {
  // MARK: Roles

  @Test func aReaderReadsAWriterWritesAndOthersAreDenied() throws {
    let cluster = try SharedCluster.one()
    try cluster.sql(
      """
      CREATE ROLE w LOGIN IN ROLE securestore_writer;
      CREATE ROLE r LOGIN IN ROLE securestore_reader;
      CREATE ROLE o LOGIN
      """)
    let writer = cluster.storage("roles", role: "w")
    try writer.create()
    try writer.save("a", forKey: "k")
    try writer.delete(forKey: "gone")
    let reader = cluster.storage("roles", role: "r")
    #expect(try reader.load(String.self, forKey: "k") == "a")
    #expect(code { try reader.save("b", forKey: "k") } == .denied)
    #expect(code { try reader.delete(forKey: "k") } == .denied)
    #expect(code { try cluster.storage("roles", role: "o").open() } == .denied)
    #expect(
      code { try cluster.storage("roles", role: "nobody", deadline: .seconds(20)).open() }
        == .denied)
    #expect(try reader.load(String.self, forKey: "k") == "a")
    // A writer can do nothing else.
    for statement in [
      "DROP TABLE securestore.rows", "UPDATE securestore.schema_version SET version = 2",
    ] {
      #expect(throws: (any Error).self) { try cluster.sql("SET ROLE w; \(statement)") }
    }
  }

  // MARK: Time

  @Test func aLongTransactionElsewhereHidesNoChangeAndBringsNoneBack() throws {
    let cluster = try SharedCluster.tables()
    try cluster.sql("CREATE TABLE securestore.other (n integer)")
    let one = cluster.storage()
    try one.create()
    for key in ["kept", "removed"] { try one.save("1", forKey: StoreKey(key)) }
    let other = cluster.storage(deadline: .seconds(59))
    #expect(try other.keys().count == 2)
    let holder = try cluster.hold("INSERT INTO securestore.other VALUES (1)")
    for value in 0..<20 {
      try one.save(value, forKey: "n")
      while try other.load(Int.self, forKey: "n") != value { usleep(1_000) }
    }
    try one.delete(forKey: "removed")
    while try other.load(String.self, forKey: "removed") != nil { usleep(1_000) }
    try one.save("2", forKey: "added")
    try one.delete(forKey: "added")
    let exact = cluster.storage(deadline: .seconds(58), reading: .linearizable)
    for storage in [one, other, exact] {
      try storage.refresh()
      #expect(try Set(storage.keys()) == ["kept", "n"])
      #expect(try storage.load(String.self, forKey: "removed") == nil)
    }
    try one.save("3", forKey: "removed")
    while try other.load(String.self, forKey: "removed") != "3" { usleep(1_000) }
    holder.release()
    try other.refresh()
    #expect(try Set(other.keys()) == ["kept", "n", "removed"])
  }

  // MARK: Tables that are not ours

  @Test func tablesThatAreMissingOrOfAnotherVersionAreErrors() throws {
    let cluster = try SharedCluster.tables()
    let missing = PostgresStorage(
      PostgresConfiguration(cluster.connection(), store: "t", schema: "elsewhere"),
      keySource: .key(SymmetricKey(size: .bits256)))
    #expect(code { try missing.create() } == .unavailable)
    try cluster.storage().create()
    try cluster.sql("UPDATE securestore.schema_version SET version = 99")
    #expect(code { try cluster.storage(deadline: .seconds(58)).open() } == .unsupported)
    // Beside other tables, in a schema of a chosen name.
    try cluster.sql(PostgresSchema.migration(schema: "o'\"Ther"))
    let chosen = PostgresStorage(
      PostgresConfiguration(cluster.connection(), store: "t's", schema: "o'\"Ther"),
      keySource: .key(SymmetricKey(size: .bits256)))
    try chosen.create()
    try chosen.save("a", forKey: "k")
    #expect(try chosen.load(String.self, forKey: "k") == "a")
  }

  // MARK: Servers that went back

  @Test func aRestoredDumpIsAnErrorUntilTheProgramStartsAgain() throws {
    let cluster = try SharedCluster.tables()
    let storage = cluster.storage()
    try storage.create()
    try storage.save("old", forKey: "k")
    let dump = try cluster.backUp()
    for value in 0..<5 { try storage.save("new \(value)", forKey: "k") }
    try cluster.goBack(to: dump)
    while code({ try storage.refresh() }) != .damaged { usleep(5_000) }
    #expect(code { _ = try storage.load(String.self, forKey: "k") } == .damaged)
    let started = cluster.storage(deadline: .seconds(55))
    #expect(try started.load(String.self, forKey: "k") == "old")
    try started.save("again", forKey: "k")
  }

  @Test func aDumpOfAServerThatWasFurtherNeedsTheMigrationAgain() throws {
    let cluster = try SharedCluster.tables()
    let source = cluster.storage()
    try source.create()
    try source.save("old", forKey: "k")
    // As of a server with many more transactions.
    try cluster.sql(
      "UPDATE securestore.rows SET version = (version::text::bigint + 1000000)::text::xid8")
    try cluster.goBack(to: cluster.backUp())
    #expect(code { try cluster.storage(deadline: .seconds(59)).open() } == .damaged)
    try cluster.sql(PostgresSchema.migration())
    let storage = cluster.storage(deadline: .seconds(55))
    #expect(try storage.load(String.self, forKey: "k") == "old")
    try storage.save("new", forKey: "k")
    #expect(try cluster.storage(deadline: .seconds(54)).load(String.self, forKey: "k") == "new")
  }

  @Test func theMigrationInALongTransactionChangesNoRow() throws {
    let cluster = try SharedCluster.tables()
    let storage = cluster.storage()
    try storage.create()
    let holder = try cluster.hold("CREATE TABLE securestore.other (n integer)")
    try storage.save("new", forKey: "k")
    let rows = "SELECT key, version FROM securestore.rows ORDER BY key"
    let before = try cluster.sql(rows)
    let file = cluster.folder.appendingPathComponent("\(UUID()).sql")
    try PostgresSchema.migration(schema: cluster.schema).write(
      to: file, atomically: false, encoding: .utf8)
    try holder.say("\\i \(file.path)")
    #expect(try cluster.sql(rows) == before)
    try storage.refresh()
  }

  // MARK: Warnings

  @Test(arguments: Depth.cases(["warning", "error"], day: 1))
  func aWriteWhoseWaitForAStandbyIsCancelledIsNotAcknowledged(_ level: String) throws {
    let cluster = try PostgresCluster()
    try cluster.sql("CREATE ROLE w LOGIN IN ROLE securestore_writer")
    try cluster.sql("ALTER ROLE w SET client_min_messages = \(level)")
    let storage = cluster.storage(role: "w", deadline: .seconds(3))
    try storage.create()
    try storage.save("before", forKey: "k")
    try cluster.sql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
    try cluster.sql("SELECT pg_reload_conf()")
    let isOver = Lock(false)
    let canceller = DispatchGroup()
    canceller.enter()
    DetachedThread.start("canceller") {
      while !isOver.withLock({ $0 }) {
        #expect(throws: Never.self) {
          try cluster.sql(
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
        }
      }
      canceller.leave()
    }
    // The server takes the setting soon; until then no commit waits.
    var failure: StorageError.Code?
    for _ in 0..<1000 where failure == nil {
      failure = code { try storage.save("after", forKey: "k") }
    }
    #expect(failure == .outcomeUnknown)
    let exact = cluster.storage(role: "w", deadline: .seconds(2), reading: .linearizable)
    #expect(code { _ = try exact.load(String.self, forKey: "k") } == .unavailable)
    isOver.withLock { $0 = true }
    canceller.wait()
  }

  @Test func aServerThatWantsAVacuumIsUsed() throws {
    let cluster = try SharedCluster.tables()
    let proxy = FaultProxy(to: cluster.ports[0])
    defer { proxy.end() }
    try cluster.storage().create()
    let exact = cluster.storage(port: proxy.port, reading: .linearizable)
    try exact.save("before", forKey: "k")
    // What GetNewTransactionId() of the server says from 40 million transactions before the last.
    let fields = "SWARNING\0VWARNING\0C01000\0Mmust be vacuumed\0RGetNewTransactionId\0\0"
    proxy.mode = .answersAfter(
      [UInt8(ascii: "N"), 0, 0, 0, UInt8(fields.utf8.count + 4)] + fields.utf8)
    try exact.save("after", forKey: "k")
    #expect(try exact.load(String.self, forKey: "k") == "after")
  }

  @Test func removalsAreSweptOnceThereAreManyAndNobodyMissesOne() throws {
    let cluster = try SharedCluster.tables()
    let storage = cluster.storage()
    try storage.create()
    try storage.save("a", forKey: "k")
    for start in stride(from: 0, to: 1_600, by: 400) {
      try storage.transaction { step in
        for index in start..<start + 400 { try step.save(index, forKey: StoreKey("\(index)")) }
      }
    }
    let other = cluster.storage(deadline: .seconds(59))
    #expect(try other.keys().count == 1_601)
    for start in stride(from: 0, to: 1_600, by: 400) {
      try storage.transaction { step in
        for index in start..<start + 400 { try step.delete(forKey: StoreKey("\(index)")) }
      }
    }
    func removed() throws -> String? {
      try cluster.sql("SELECT count(*) FROM securestore.rows WHERE value IS NULL").first
    }
    #expect(try removed() == "1600")
    let latest = try cluster.sql(
      "SELECT version FROM securestore.rows ORDER BY version DESC LIMIT 1")
    try cluster.sql("SELECT securestore.sweep('t', '\(latest[0])')")
    #expect(try Int(removed()!)! <= 400)
    while try other.keys().count != 1 { usleep(1_000) }
    try storage.save("b", forKey: "0")
    while try other.load(String.self, forKey: "0") != "b" { usleep(1_000) }
    try other.refresh()
    #expect(try Set(other.keys()) == ["0", "k"])
  }
}
