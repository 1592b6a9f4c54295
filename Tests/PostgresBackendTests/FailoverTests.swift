import Foundation
import PostgresBackend
import RemoteTesting
import StorageTesting
import TestSupport
import Testing

/// A primary with two synchronous standbys, of which one becomes the primary; by night, or by name.
@Suite(.serialized) struct FailoverTests {
  private static let key = KeySource.key(SymmetricKey(data: Data(repeating: 7, count: 32)))

  /// A program that knows some of the servers.
  private func program(
    _ cluster: PostgresCluster, _ indices: [Int], deadline: Duration = .seconds(60),
    reading: RemoteReading = .cached
  ) -> PostgresStorage {
    PostgresStorage(
      PostgresConfiguration(
        cluster.connection(ports: indices.map { cluster.ports[$0] }), store: "t",
        deadline: deadline), keySource: Self.key, reading: reading)
  }

  @Test(arguments: ["kill", "stop"])
  func whatWasAcknowledgedIsThereAfterAPromotionAndWritesGoOn(_ how: String) throws {
    let cluster = try PostgresCluster(standbys: 2)
    let storage = program(cluster, [0, 1, 2])
    try storage.create()
    let acknowledged = Lock([Int](repeating: 0, count: 4))
    let isOver = Lock(false)
    let writers = DispatchGroup()
    for writer in 0..<4 {
      writers.enter()
      DetachedThread.start("writer") {
        var next = 1
        while !isOver.withLock({ $0 }) {
          // Each is made once, or is an error after which nobody knows.
          #expect(throws: Never.self) {
            try storage.update(Int.self, forKey: StoreKey("writer \(writer)")) {
              $0 = ($0 ?? 0) + 1
            }
          }
          acknowledged.withLock { $0[writer] = next }
          next += 1
        }
        writers.leave()
      }
    }
    sleep(2)
    if how == "kill" { cluster.kill(0) } else { try cluster.stop(0) }
    let begin = DispatchTime.now().uptimeNanoseconds
    let new = try cluster.promote(insteadOf: 0)
    let before = acknowledged.withLock { $0.reduce(0, +) }
    while acknowledged.withLock({ $0.reduce(0, +) }) < before + 20 { usleep(1_000) }
    let span = Double(DispatchTime.now().uptimeNanoseconds - begin) / 1e9
    print("fleet: after a \(how) of the primary writes went on after \(span) s")
    sleep(1)
    isOver.withLock { $0 = true }
    writers.wait()
    let exact = program(cluster, [new], reading: .linearizable)
    for (writer, count) in acknowledged.withLock({ $0 }).enumerated() {
      #expect(try exact.load(Int.self, forKey: StoreKey("writer \(writer)")) == count)
    }
    if how == "stop" { try cluster.stop(0, isOver: true) }
  }

  @Test func aWokenOldPrimaryGivesNoValueToALinearizableReadAndAnAgeToOthers() throws {
    let cluster = try PostgresCluster(standbys: 2)
    let storage = program(cluster, [0])
    try storage.create()
    try storage.save("old", forKey: "k")
    let cached = program(cluster, [0], deadline: .seconds(59))
    #expect(try cached.load(String.self, forKey: "k") == "old")
    try cluster.stop(0)
    let new = try cluster.promote(insteadOf: 0)
    let others = [0, 1, 2].filter { $0 != 0 }
    try program(cluster, others).save("new", forKey: "k")
    try cluster.stop(0, isOver: true)
    let servers = try program(cluster, [0, 1, 2]).servers()
    #expect(servers[0].caution?.contains("replaced") == true)
    #expect(servers[new].caution?.contains("replaced") != true)
    let exact = program(cluster, [0], deadline: .seconds(5), reading: .linearizable)
    for _ in 0..<3 {
      #expect(code { _ = try exact.load(String.self, forKey: "k") } == .unavailable)
    }
    #expect(code { try program(cluster, [0], deadline: .seconds(4)).save("x", forKey: "k") } != nil)
    #expect(try cached.load(String.self, forKey: "k") == "old")
    switch cached.state {
    case .current(let age), .away(_, _, let age): #expect(age > .seconds(5))
    default: Issue.record("\(cached.state)")
    }
    // A program that knows all finds the new one.
    let all = program(cluster, [0] + others, reading: .linearizable)
    #expect(try all.load(String.self, forKey: "k") == "new")
    #expect(new != 0)
  }

  @Test func aTimelineThatForkedBeforeAKnownCommitIsAnError() throws {
    let cluster = try PostgresCluster(standbys: 1, isSynchronous: false)
    let storage = program(cluster, [0, 1])
    try storage.create()
    try storage.save("kept", forKey: "k")
    while try cluster.sql("SELECT count(*) FROM securestore.rows", at: 1) == ["0"] {
      usleep(10_000)
    }
    // What follows never gets to the standby.
    try cluster.sql("ALTER SYSTEM SET primary_conninfo = ''", at: 1)
    try cluster.sql("SELECT pg_reload_conf()", at: 1)
    while try cluster.sql("SELECT count(*) FROM pg_stat_wal_receiver", at: 1) != ["0"] {
      usleep(10_000)
    }
    try storage.save("lost", forKey: "k")
    cluster.kill(0)
    _ = try cluster.promote(insteadOf: 0)
    while code({ try storage.refresh() }) != .damaged { usleep(10_000) }
    #expect(code { _ = try storage.load(String.self, forKey: "k") } == .damaged)
    #expect(try program(cluster, [1]).load(String.self, forKey: "k") == "kept")
  }

  // MARK: Chaos

  @Test(arguments: [1, 2, 3])
  func whatEightProcessesDidUnderFaultsIsLinearizable(_ seed: UInt64) throws {
    try work(seed, operations: 4_000)
  }

  @Test(.enabled(if: Soak.isOn), arguments: 4...100)
  func whatEightProcessesDidUnderFaultsIsLinearizableSoak(_ seed: UInt64) throws {
    try work(seed, operations: 1_000)
  }

  /// Eight processes at work, while primaries fail over, and servers and processes are stopped and cut
  /// off.
  private func work(_ seed: UInt64, operations: Int) throws {
    let cluster = try PostgresCluster(standbys: 2)
    let proxies = cluster.ports.map { FaultProxy(to: $0) }
    defer { for proxy in proxies { proxy.end() } }
    try cluster.storage().create()
    let connection = cluster.connection(ports: proxies.map(\.port))
    var primary = 0
    try FleetChaos.run(seed: seed, operations: operations) { deadline, command in
      try HelperProgram("PostgresTestChild").start([connection, "t", "\(deadline)"] + command)
    } disturb: { random, _ in
      let server = Int.random(in: 0..<3, using: &random)
      let pause = UInt32.random(in: 100_000...2_000_000, using: &random)
      switch Int.random(in: 0..<8, using: &random) {
      case 0, 1:
        let old = primary
        if Bool.random(using: &random) { cluster.kill(old) } else { try cluster.stop(old) }
        primary = try cluster.promote(insteadOf: old)
        usleep(pause)
        // A woken one goes on for a while as if it still were the primary.
        try cluster.stop(old, isOver: true)
        usleep(pause)
        try cluster.rejoin(old, to: primary)
      case 2:
        try cluster.stop(server)
        usleep(pause)
        try cluster.stop(server, isOver: true)
      case 3:
        cluster.kill(server)
        usleep(pause)
        try cluster.start(server)
      case 4: proxies[server].treat(.cutAfterRequest, for: pause)
      case 5: proxies[server].treat(.muteAnswers, for: pause)
      default:
        proxies[server].treat(
          [.mute, .refuse, .delay(20)].randomElement(using: &random)!, for: pause)
      }
    } exact: {
      program(cluster, [primary], reading: .linearizable)
    }
  }
}
