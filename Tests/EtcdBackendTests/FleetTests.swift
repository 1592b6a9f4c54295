import EtcdBackend
import Foundation
import RemoteTesting
import StorageTesting
import TestSupport
import Testing

/// Many processes over three real members, of which some are killed, stopped or cut off.
@Suite(.serialized) struct FleetTests {
  /// Three members, each behind a proxy.
  private final class Fleet {
    let cluster: EtcdCluster
    let proxies: [FaultProxy]
    let prefix = "/fleet"

    init() throws {
      cluster = try EtcdCluster(members: 3)
      proxies = cluster.ports.map { FaultProxy(to: $0) }
      try cluster.storage(prefix).create()
    }

    deinit { for proxy in proxies { proxy.end() } }

    /// The members through the proxies.
    var endpoints: String {
      proxies.map { "http://127.0.0.1:\($0.port)" }.joined(separator: ",")
    }

    func start(_ command: [String], deadline: Int = 10_000) throws -> Child {
      try HelperProgram("EtcdTestChild").start([endpoints, prefix, "\(deadline)"] + command)
    }
  }

  @Test(arguments: Depth.isFull ? [1, 2, 3] : [Depth.seed % 1_000])
  func whatEightProcessesDidUnderFaultsIsLinearizable(_ seed: UInt64) throws {
    try work(seed, operations: Depth.count(10_000, day: 1_000))
  }

  @Test(.enabled(if: Soak.isOn), arguments: 4...100)
  func whatEightProcessesDidUnderFaultsIsLinearizableSoak(_ seed: UInt64) throws {
    // A hundred long histories would take hours.
    try work(seed, operations: 1_000)
  }

  /// Eight processes at work, while members and processes are killed, stopped and cut off.
  private func work(_ seed: UInt64, operations: Int) throws {
    let fleet = try Fleet()
    var hasKilled = false
    try FleetChaos.run(seed: seed, operations: operations) { deadline, command in
      try fleet.start(command, deadline: deadline)
    } disturb: { random, running in
      let member = Int.random(in: 0..<3, using: &random)
      let pause = UInt32.random(in: 100_000...2_000_000, using: &random)
      switch Int.random(in: 0..<8, using: &random) {
      case 0, 1:
        if Bool.random(using: &random) {
          fleet.cluster.kill(member)
        } else {
          fleet.cluster.terminate(member)
        }
        usleep(pause)
        try fleet.cluster.start(member)
      case 2:
        fleet.cluster.stop(member)
        usleep(pause)
        fleet.cluster.resume(member)
      case 3:
        let child = running[Int.random(in: 0..<8, using: &random)]
        child.send(SIGSTOP)
        usleep(pause)
        child.send(SIGCONT)
      case 4 where !hasKilled:
        hasKilled = true
        running.removeFirst().kill()
        running.append(running[0])
      case 5: fleet.proxies[member].treat(.cutAfterRequest, for: pause)
      case 6: fleet.proxies[member].treat(.muteAnswers, for: pause)
      default:
        fleet.proxies[member].treat(
          [.mute, .refuse, .delay(20)].randomElement(using: &random)!, for: pause)
      }
    } exact: {
      fleet.cluster.storage(fleet.prefix, reading: .linearizable)
    }
  }

  @Test func countersOfEightProcessesEndAtWhatWasAcknowledged() throws {
    try count(to: Depth.count(1_000, day: 60))
  }

  @Test(.enabled(if: Soak.isOn))
  func longCountersOfEightProcessesEndAtWhatWasAcknowledgedSoak() throws { try count(to: 10_000) }

  /// Eight processes add to one value, while the leader is killed.
  private func count(to times: Int) throws {
    let fleet = try Fleet()
    let children = try (0..<8).map { _ in try fleet.start(["count", "\(times)"], deadline: 60_000) }
    usleep(300_000)
    if let leader = fleet.cluster.leader {
      fleet.cluster.kill(leader)
      usleep(500_000)
      try fleet.cluster.start(leader)
    }
    var (acknowledged, unknown) = (0, 0)
    for child in children {
      let words = try #require(child.lines().last).split(separator: " ")
      acknowledged += Int(words[1])!
      unknown += Int(words[2])!
    }
    #expect(acknowledged == 8 * times)
    let exact = fleet.cluster.storage(fleet.prefix, reading: .linearizable)
    let end = try #require(try exact.load(Int.self, forKey: "n"))
    #expect(end >= acknowledged && end <= acknowledged + unknown, "\(end), \(unknown) unknown")
  }

  @Test(arguments: ["kill", "stop"])
  func withoutTheLeaderReadsGoOnAndWritesComeBack(_ how: String) throws {
    let fleet = try Fleet()
    let storage = fleet.cluster.storage(fleet.prefix)
    try storage.save("before", forKey: "k")
    // Each member is asked first once, so that the leader is.
    let leader = try #require(fleet.cluster.leader)
    let first = fleet.cluster.endpoints[leader]
    let others = fleet.cluster.endpoints.filter { $0 != first }
    let program = EtcdStorage(
      EtcdConfiguration(
        endpoints: [first] + others, prefix: fleet.prefix, deadline: .seconds(60)),
      keySource: .key(SymmetricKey(data: Data(repeating: 7, count: 32))))
    #expect(try program.load(String.self, forKey: "k") == "before")
    if how == "stop" { fleet.cluster.stop(leader) } else { fleet.cluster.kill(leader) }
    #expect(try program.load(String.self, forKey: "k") == "before")
    let begin = DispatchTime.now().uptimeNanoseconds
    try program.save("after", forKey: "k")
    let span = Double(DispatchTime.now().uptimeNanoseconds - begin) / 1e9
    print("fleet: after a \(how) of the leader a write took \(span) s")
    #expect(try program.load(String.self, forKey: "k") == "after")
    if how == "stop" { fleet.cluster.resume(leader) } else { try fleet.cluster.start(leader) }
    let exact = fleet.cluster.storage(fleet.prefix, reading: .linearizable)
    #expect(try exact.load(String.self, forKey: "k") == "after")
  }

  @Test func withoutAQuorumReadsGoOnAndWritesSayWhy() throws {
    let fleet = try Fleet()
    let storage = fleet.cluster.storage(fleet.prefix, deadline: .seconds(15))
    try storage.save("before", forKey: "k")
    for index in 0..<2 { fleet.cluster.kill(index) }
    let error = #expect(throws: StorageError.self) { try storage.save("lost", forKey: "k") }
    #expect([.unavailable, .timedOut, .outcomeUnknown].contains(error?.code), "\(error!)")
    #expect(try storage.load(String.self, forKey: "k") == "before")
    let exact = fleet.cluster.storage(fleet.prefix, deadline: .seconds(3), reading: .linearizable)
    let read = #expect(throws: StorageError.self) { try exact.load(String.self, forKey: "k") }
    #expect(read?.code == .unavailable, "\(read!)")
    while true {
      if case .away = storage.state { break }
      usleep(10_000)
    }
    for index in 0..<2 { try fleet.cluster.start(index) }
    while true {
      if case .current = storage.state { break }
      usleep(10_000)
    }
    try storage.refresh()
    let found = try storage.load(String.self, forKey: "k")
    #expect(found == "before" || error?.code == .outcomeUnknown && found == "lost")
  }
}
