import Foundation
import PostgresBackend
import RemoteTesting
import StorageTesting
import TestSupport
import Testing
import VaultBackend

/// What PostgreSQL, its administrators and other programs do to a store.
struct HazardTests {
  /// A program of another role.
  private func storage(
    _ cluster: PostgresCluster, _ role: String, _ store: String,
    deadline: Duration = .seconds(60), access: StoreAccess = .mustExist
  ) -> PostgresStorage {
    PostgresStorage(
      PostgresConfiguration(
        cluster.connection(role), store: store, access: access, deadline: deadline),
      keySource: .key(SymmetricKey(data: Data(repeating: 7, count: 32))))
  }

  // MARK: Roles

  @Test func aReaderReadsAWriterWritesAndOthersAreDenied() throws {
    let cluster = try SharedCluster.one()
    try cluster.sql(
      """
      CREATE ROLE w LOGIN IN ROLE securestore_writer; CREATE ROLE r LOGIN IN ROLE securestore_reader;
      CREATE ROLE o LOGIN
      """)
    let writer = storage(cluster, "w", "roles")
    try writer.create()
    try writer.save("a", forKey: "k")
    try writer.delete(forKey: "gone")
    let reader = storage(cluster, "r", "roles")
    #expect(try reader.load(String.self, forKey: "k") == "a")
    #expect(code { try reader.save("b", forKey: "k") } == .denied)
    #expect(code { try reader.delete(forKey: "k") } == .denied)
    #expect(code { try storage(cluster, "o", "roles").open() } == .denied)
    #expect(
      code { try storage(cluster, "nobody", "roles", deadline: .seconds(20)).open() } == .denied)
    #expect(try reader.load(String.self, forKey: "k") == "a")
    // A writer can do nothing else.
    for statement in [
      "DROP TABLE securestore.rows", "UPDATE securestore.schema_version SET version = 2",
    ] {
      #expect(throws: (any Error).self) { try cluster.sql("SET ROLE w; \(statement)") }
    }
  }

  // MARK: Locks and time

  @Test func aLockOfSomebodyElseIsBusyAndNothingIsWritten() throws {
    let cluster = try PostgresCluster()
    let storage = cluster.storage(deadline: .seconds(4))
    try storage.create()
    try storage.save("before", forKey: "k")
    for lock in ["SELECT FROM securestore.rows FOR UPDATE", "LOCK TABLE securestore.rows"] {
      let holder = try cluster.hold(lock)
      #expect(code { try storage.save("after", forKey: "k") } == .busy, "\(lock)")
      // What is known is read on.
      #expect(try storage.load(String.self, forKey: "k") == "before")
      holder.release()
      try storage.save(lock, forKey: "n")
      #expect(try storage.load(String.self, forKey: "k") == "before")
    }
    let exact = cluster.storage(deadline: .seconds(30), reading: .linearizable)
    #expect(try exact.load(String.self, forKey: "k") == "before")
  }

  @Test func aStatementTimeoutOfTheAdministratorIsAnErrorAfterWhichNothingWasDone() throws {
    let cluster = try PostgresCluster()
    try cluster.storage().create()
    try cluster.sql(
      """
      CREATE ROLE hasty LOGIN IN ROLE securestore_writer; ALTER ROLE hasty SET statement_timeout = '200ms'
      """)
    let hasty = storage(cluster, "hasty", "t")
    try hasty.save("before", forKey: "k")
    let holder = try cluster.hold("SELECT FROM securestore.rows FOR UPDATE")
    #expect(code { try hasty.save("after", forKey: "k") } == .timedOut)
    holder.release()
    let exact = cluster.storage(deadline: .seconds(30), reading: .linearizable)
    #expect(try exact.load(String.self, forKey: "k") == "before")
    try hasty.save("after", forKey: "k")
  }

  @Test func aLongTransactionElsewhereHidesNoChangeAndBringsNoneBack() throws {
    let cluster = try PostgresCluster()
    try cluster.sql("CREATE TABLE other (n integer)")
    let one = cluster.storage()
    try one.create()
    for key in ["kept", "removed"] { try one.save("1", forKey: StoreKey(key)) }
    let other = cluster.storage(deadline: .seconds(59))
    #expect(try other.keys().count == 2)
    let holder = try cluster.hold("INSERT INTO other VALUES (1)")
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

  @Test func aTableThatIsWrittenAnewByItsAdministratorLosesNothing() throws {
    let cluster = try PostgresCluster()
    let storage = cluster.storage()
    try storage.create()
    for value in 0..<50 { try storage.save(value, forKey: StoreKey("\(value)")) }
    try cluster.sql("VACUUM FULL securestore.rows")
    try storage.save("after", forKey: "k")
    try storage.refresh()
    let other = cluster.storage(deadline: .seconds(59))
    #expect(try other.keys().count == 51)
    #expect(try other.load(Int.self, forKey: "49") == 49)
  }

  // MARK: Tables that are not ours

  @Test func tablesThatAreMissingOrOfAnotherVersionAreErrors() throws {
    let cluster = try PostgresCluster()
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

  @Test(arguments: [
    "ALTER TABLE securestore.rows RENAME value TO content",
    "ALTER TABLE securestore.rows ADD CONSTRAINT c CHECK (length(value) < 0) NOT VALID",
    "ALTER TABLE securestore.rows ALTER version TYPE text",
  ])
  func aTableThatSomebodyChangedIsAnErrorAndNothingIsLost(_ change: String) throws {
    let cluster = try PostgresCluster()
    let storage = cluster.storage(deadline: .seconds(10))
    try storage.create()
    try storage.save("before", forKey: "k")
    try cluster.sql(change)
    #expect(code { try storage.save("after", forKey: "k") } == .damaged)
    #expect(try storage.load(String.self, forKey: "k") == "before")
  }

  // MARK: Servers that went back

  @Test func aRestoredDumpIsAnErrorUntilTheProgramStartsAgain() throws {
    let cluster = try PostgresCluster()
    let storage = cluster.storage()
    try storage.create()
    try storage.save("old", forKey: "k")
    let dump = cluster.path + "/dump"
    let connection = cluster.connection()
    _ = try Child.run(["pg_dump", "-n", "securestore", "-f", dump, "-d", connection])
    for value in 0..<5 { try storage.save("new \(value)", forKey: "k") }
    try cluster.sql("DROP SCHEMA securestore CASCADE")
    _ = try Child.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", connection, "-f", dump])
    while code({ try storage.refresh() }) != .damaged { usleep(5_000) }
    #expect(code { _ = try storage.load(String.self, forKey: "k") } == .damaged)
    let started = cluster.storage(deadline: .seconds(55))
    #expect(try started.load(String.self, forKey: "k") == "old")
    try started.save("again", forKey: "k")
  }

  @Test func aDumpOfAServerThatWasFurtherNeedsTheMigrationAgain() throws {
    let (from, to) = (try PostgresCluster(), try PostgresCluster())
    // Many transactions ago for the other server.
    try from.sql(
      "DO $$ BEGIN FOR i IN 1..2000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$")
    let source = from.storage()
    try source.create()
    try source.save("old", forKey: "k")
    let dump = from.path + "/dump"
    _ = try Child.run(["pg_dump", "-n", "securestore", "-f", dump, "-d", from.connection()])
    try to.sql("DROP SCHEMA securestore CASCADE")
    _ = try Child.run(["psql", "-X", "-q", "-d", to.connection(), "-f", dump])
    #expect(code { try to.storage().open() } == .damaged)
    try to.sql(PostgresSchema.migration())
    let storage = to.storage(deadline: .seconds(55))
    #expect(try storage.load(String.self, forKey: "k") == "old")
    try storage.save("new", forKey: "k")
    #expect(try to.storage(deadline: .seconds(54)).load(String.self, forKey: "k") == "new")
  }

  @Test func whatALostAnswerLeavesOpenIsFoundOut() throws {
    let cluster = try PostgresCluster()
    let proxy = FaultProxy(to: cluster.ports[0])
    defer { proxy.end() }
    let direct = cluster.storage()
    try direct.create()
    let program = PostgresStorage(
      PostgresConfiguration(
        cluster.connection(ports: [proxy.port]), store: "t", deadline: .seconds(60)),
      keySource: .key(SymmetricKey(data: Data(repeating: 7, count: 32))))
    try program.save(0, forKey: "n")
    for _ in 0..<10 {
      proxy.mode = .cutAfterRequest
      // Some get through on their way to finding out; then the next goes on as before.
      DetachedThread.start("again") {
        usleep(300_000)
        proxy.mode = .pass
      }
      try program.update(Int.self, forKey: "n") { $0 = ($0 ?? 0) + 1 }
      proxy.mode = .pass
    }
    let exact = cluster.storage(reading: .linearizable)
    #expect(try exact.load(Int.self, forKey: "n") == 10)
  }

  @Test func removalsAreSweptOnceThereAreManyAndNobodyMissesOne() throws {
    let cluster = try PostgresCluster()
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
