import Foundation
import PostgresBackend
import RemoteTesting
import StorageTesting
import TestSupport
import Testing

/// Ways to a server: poolers, passwords, connections that are wrong or go away.
struct ConnectionTests {
  private static let key = KeySource.key(SymmetricKey(data: Data(repeating: 7, count: 32)))

  private func storage(
    _ connection: String, store: String = "t", deadline: Duration = .seconds(60)
  ) -> PostgresStorage {
    PostgresStorage(
      PostgresConfiguration(connection, store: store, deadline: deadline), keySource: Self.key)
  }

  @Test(arguments: ["session", "transaction"])
  func throughAPoolerChangesAreSeen(_ mode: String) throws {
    let cluster = try SharedCluster.tables()
    let pooler = try Pooler(cluster, mode: mode)
    let one = cluster.storage(port: pooler.port)
    try one.create()
    let two = cluster.storage(port: pooler.port, deadline: .seconds(59))
    #expect(try two.load(Int.self, forKey: "n") == nil)
    for value in 0..<4 {
      try one.save(value, forKey: "n")
      while try two.load(Int.self, forKey: "n") != value { usleep(1_000) }
    }
    try one.update(Int.self, forKey: "n") { $0 = ($0 ?? 0) + 1 }
    let exact = cluster.storage(port: pooler.port, reading: .linearizable)
    #expect(try exact.load(Int.self, forKey: "n") == 4)
  }

  @Test func aPasswordComesFromAClosureOrLibpqsOwnPlaces() throws {
    let cluster = try SharedCluster.tables()
    try cluster.sql("CREATE ROLE p LOGIN PASSWORD 's3cret' IN ROLE securestore_writer")
    try cluster.storage().create()
    let cases: [(String?, String, StorageError.Code?)] = [
      ("s3cret", "", nil), (nil, " password=s3cret", nil), (nil, "", .denied),
      ("wr0ng-marker", "", .denied), (nil, " password=wr0ng-marker", .denied),
    ]
    for (index, (text, settings, expected)) in cases.enumerated() {
      var configuration = PostgresConfiguration(
        cluster.connection("p") + settings, store: "t", schema: cluster.schema,
        deadline: .seconds(30 + index))
      if let text { configuration.password = { () throws(StorageError) in try .of(text) } }
      let error = thrown {
        try PostgresStorage(configuration, keySource: Self.key).refresh()
      }
      #expect(error?.code == expected, "\(text ?? settings): \(error?.message ?? "-")")
      #expect(error?.message.contains("marker") != true)
    }
  }

  @Test(arguments: [
    "host=", "host", "post gres", "postgresql://u:p4ss@[", "x=y", "dbname=a port=b",
    "postgresql://u:a/p4ss@127.0.0.1/d", "postgres://u:p@p4ss@127.0.0.1/d",
  ])
  func aConnectionThatIsNoneIsRefusedWithoutItsText(_ connection: String) {
    let storage = storage(connection, deadline: .milliseconds(500))
    let error = #expect(throws: StorageError.self) { try storage.open() }
    #expect([.invalid, .unavailable, .denied].contains(error?.code), "\(error!)")
    #expect(!"\(error!)".contains("p4ss"))
  }

  @Test(arguments: ["", String(repeating: "s", count: 513), "a\0b"])
  func aStoreWithoutANameIsRefused(_ store: String) {
    let storage = storage("host=127.0.0.1", store: store)
    let error = #expect(throws: StorageError.self) { try storage.open() }
    #expect(error?.code == .invalid)
  }

  @Test func theTablesAreMadeAtTheHostThatAnswers() throws {
    let cluster = try SharedCluster.one()
    let storage = PostgresStorage(
      PostgresConfiguration(
        cluster.connection(ports: FreePorts.find(1) + cluster.ports), store: "t",
        schema: "made_there"), keySource: Self.key)
    for _ in 0..<2 { try storage.makeTables() }
    try storage.create()
    let error = #expect(throws: StorageError.self) { try storage.discard() }
    #expect(error?.message.contains("UPDATE \"made_there\".rows") == true)
  }

  @Test func aServerThatStartsAnewIsUsedAgain() throws {
    let cluster = try PostgresCluster()
    let storage = cluster.storage()
    try storage.create()
    let other = cluster.storage(deadline: .seconds(59))
    #expect(try other.keys().isEmpty)
    for value in 0..<2 {
      cluster.kill(0)
      try cluster.start(0)
      try storage.save(value, forKey: "n")
      while try other.load(Int.self, forKey: "n") != value { usleep(1_000) }
    }
  }

  @Test func eachServerSaysWhatItIsAndWhatItsCommitsAreWorth() throws {
    let cluster = try SharedCluster.one()
    let port = FreePorts.find(1)[0]
    let storage = storage(cluster.connection(ports: [cluster.ports[0], port]))
    let servers = try storage.servers()
    #expect(servers.count == 2)
    #expect(servers[0].failure == nil && servers[0].isPrimary && servers[0].timeline == 1)
    #expect(servers[0].version.hasPrefix("1"))
    #expect(servers[0].caution?.contains("standby") == true)
    #expect(servers[1].failure?.code == .unavailable)
  }

  @Test func aPrimaryWithoutItsStandbysSaysThatCommitsWait() throws {
    let cluster = try PostgresCluster(standbys: 1, fsync: true)
    let storage = storage(cluster.connection(ports: cluster.ports))
    #expect(try storage.servers()[0].caution == nil)
    cluster.kill(1)
    while try storage.servers()[0].caution?.contains("no standby") != true { usleep(10_000) }
  }
}
