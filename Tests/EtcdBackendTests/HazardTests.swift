import EtcdBackend
import Foundation
import RemoteTesting
import StorageTesting
import TestSupport
import Testing
import VaultBackend

/// What etcd and its administrators do to a store behind the back of programs that use it.
struct HazardTests {
  private func through(
    _ proxy: FaultProxy, deadline: Duration = .seconds(60), _ prefix: String = "/t"
  ) -> EtcdStorage {
    EtcdStorage(
      EtcdConfiguration(
        endpoints: ["http://127.0.0.1:\(proxy.port)"], prefix: prefix, deadline: deadline),
      keySource: .key(SymmetricKey(data: Data(repeating: 7, count: 32))))
  }

  private func revision(of cluster: EtcdCluster) throws -> UInt64 {
    let line = try #require(try cluster.control("endpoint", "status", "-w", "json").first)
    let all = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [[String: Any]]
    let header = (all?.first?["Status"] as? [String: Any])?["header"] as? [String: Any]
    return try #require(header?["revision"] as? UInt64)
  }

  /// etcd#18089: a watch that begins at the revision that was compacted misses a removal there.
  @Test(arguments: [0, 1, 2])
  func aChangeThatWasCompactedAwayIsFound(_ after: Int) throws {
    let cluster = try EtcdCluster()
    let direct = cluster.storage()
    try direct.create()
    for key in ["gone", "changed", "kept"] { try direct.save("1", forKey: key) }
    let proxy = FaultProxy(to: cluster.ports[0])
    defer { proxy.end() }
    let program = through(proxy)
    #expect(try program.keys().count == 3)
    proxy.mode = .refuse
    while true {
      if case .away = program.state { break }
      usleep(5_000)
    }
    try direct.save("2", forKey: "changed")
    try direct.delete(forKey: "gone")
    let removal = try revision(of: cluster)
    for value in 0..<after { try direct.save("\(value)", forKey: "new") }
    try cluster.control("compact", "\(removal)")
    proxy.mode = .pass
    while try program.load(String.self, forKey: "gone") != nil { usleep(1_000) }
    while try program.load(String.self, forKey: "changed") != "2" { usleep(1_000) }
    #expect(try program.load(String.self, forKey: "kept") == "1")
    #expect(try Set(program.keys()) == Set(direct.keys()))
  }

  @Test func aListWhoseRevisionIsDroppedBetweenItsPagesBeginsAgain() throws {
    let cluster = try EtcdCluster()
    let direct = cluster.storage()
    try direct.create()
    // Three pages.
    for start in stride(from: 0, to: 12_000, by: 100) {
      try direct.transaction { transaction in
        for number in start..<start + 100 { try transaction.save(1, forKey: StoreKey("\(number)")) }
      }
    }
    let first = try revision(of: cluster)
    let proxy = FaultProxy(to: cluster.ports[0])
    defer { proxy.end() }
    proxy.mode = .delay(20)
    let compactor = DispatchGroup()
    compactor.enter()
    DetachedThread.start("compactor") {
      // Each write is one revision.
      for number in 1...10 as ClosedRange<UInt64> {
        try? direct.save(2, forKey: "0")
        _ = try? cluster.control("compact", "\(first + number)")
      }
      compactor.leave()
    }
    defer { compactor.wait() }
    #expect(try through(proxy).load(Int.self, forKey: "1") == 1)
  }

  @Test func aSlowConnectionOnlyTakesLonger() throws {
    let cluster = try EtcdCluster()
    let direct = cluster.storage()
    try direct.create()
    let value = String(repeating: "v", count: 1_000)
    for start in stride(from: 0, to: 5_000, by: 100) {
      try direct.transaction { transaction in
        for number in start..<start + 100 {
          try transaction.save(value, forKey: StoreKey("\(number)"))
        }
      }
    }
    let proxy = FaultProxy(to: cluster.ports[0])
    defer { proxy.end() }
    proxy.mode = .slow(1_000_000)
    let program = through(proxy, deadline: .seconds(300))
    #expect(try program.load(String.self, forKey: "1") == value)
    #expect(try program.keys().count == 5_000)
    proxy.mode = .slow(400_000)
    let large = String(repeating: "l", count: 1_300_000)
    try program.save(large, forKey: "large")
    let exact = EtcdStorage(
      EtcdConfiguration(
        endpoints: ["http://127.0.0.1:\(proxy.port)"], prefix: "/t", deadline: .seconds(300)),
      keySource: .key(SymmetricKey(data: Data(repeating: 7, count: 32))), reading: .linearizable)
    #expect(try exact.load(String.self, forKey: "large") == large)
  }

  @Test func aRestoredSnapshotIsAnErrorUntilTheProgramStartsAgain() throws {
    let cluster = try EtcdCluster()
    let storage = cluster.storage()
    try storage.create()
    try storage.save("old", forKey: "k")
    let snapshot = cluster.path + "/snapshot"
    try cluster.control("snapshot", "save", snapshot)
    for value in 0..<5 { try storage.save("new \(value)", forKey: "k") }
    try cluster.restore(snapshot)
    while code({ _ = try storage.load(String.self, forKey: "k") }) == nil { usleep(5_000) }
    for use in [
      { _ = try storage.load(String.self, forKey: "k") }, { try storage.save("x", forKey: "k") },
      { try storage.refresh() },
    ] {
      #expect(code(use) == .damaged)
    }
    let started = cluster.storage(deadline: .seconds(55))
    #expect(try started.load(String.self, forKey: "k") == "old")
    try started.save("again", forKey: "k")
  }

  @Test func anotherClusterAtTheSameAddressIsAnError() throws {
    let cluster = try EtcdCluster()
    let storage = cluster.storage()
    try storage.create()
    try storage.save("old", forKey: "k")
    let copy = VaultStorage(
      at: cluster.folder.appendingPathComponent("machine/copy.vault"),
      keySource: .key(SymmetricKey(data: Data(repeating: 9, count: 32))))
    try cluster.store("t", 54, copy: copy).refresh()
    try cluster.startAnew()
    while code({ _ = try storage.load(String.self, forKey: "k") }) == nil { usleep(5_000) }
    #expect(code { _ = try storage.load(String.self, forKey: "k") } == .damaged)
    #expect(code { try cluster.storage(deadline: .seconds(55)).open() } == .unavailable)
    // A start with the machine's copy knows, too.
    try cluster.storage(deadline: .seconds(53)).create()
    #expect(code { try cluster.store("t", 54, copy: copy).open() } == .damaged)
  }

  @Test func aFullDatabaseIsFullAndReadsGoOn() throws {
    let cluster = try EtcdCluster(options: ["--quota-backend-bytes", "20000000"])
    let storage = cluster.storage()
    try storage.create()
    try storage.save("kept", forKey: "k")
    let large = String(repeating: "x", count: 1_000_000)
    var failure: StorageError.Code?
    for index in 0..<60 where failure == nil {
      failure = code { try storage.save(large, forKey: "large \(index)") }
    }
    #expect(failure == .full)
    #expect(try storage.load(String.self, forKey: "k") == "kept")
    #expect(code { try storage.save("x", forKey: "k") } == .full)
    // Who removes makes room, so that goes on, alone and in a transaction.
    try storage.delete(forKey: "large 0")
    try storage.transaction { transaction in
      for key in ["large 1", "large 2"] as [StoreKey] { try transaction.delete(forKey: key) }
    }
    #expect(
      code {
        try storage.transaction { transaction in
          try transaction.delete(forKey: "large 3")
          try transaction.save("x", forKey: "k")
        }
      } == .full)
    #expect(try !cluster.storage(deadline: .seconds(50)).keys().contains("large 1"))
    let exact = cluster.storage(reading: .linearizable)
    #expect(try exact.load(String.self, forKey: "k") == "kept")
  }

  @Test func whatIsTooLargeForEtcdIsRefusedBeforehand() throws {
    let cluster = try SharedCluster.one()
    let storage = cluster.storage("/large")
    try storage.create()
    #expect(
      code { try storage.save(String(repeating: "x", count: 1_500_000), forKey: "k") } == .invalid)
    try storage.save(String(repeating: "x", count: 1_400_000), forKey: "k")
    #expect(try storage.load(String.self, forKey: "k")?.count == 1_400_000)
    #expect(
      code {
        try storage.transaction { step in
          for index in 0..<127 { try step.save(index, forKey: "\(index)") }
        }
      } == .invalid)
    #expect(try storage.keys() == ["k"])
    try storage.transaction { step in
      for index in 0..<126 { try step.save(index, forKey: "\(index)") }
    }
    #expect(try storage.keys().count == 127)
  }

  /// etcd's own limit of a request may be smaller than usual.
  @Test func aSmallerLimitOfEtcdIsAnErrorToo() throws {
    let cluster = try EtcdCluster(options: ["--max-request-bytes", "100000", "--max-txn-ops", "10"])
    let storage = cluster.storage()
    try storage.create()
    #expect(
      code { try storage.save(String(repeating: "x", count: 300_000), forKey: "k") } == .invalid)
    #expect(
      code {
        try storage.transaction { step in
          for index in 0..<20 { try step.save(index, forKey: "\(index)") }
        }
      } == .invalid)
    try storage.save("small", forKey: "k")
    #expect(try storage.keys() == ["k"])
  }

  /// More bytes than one answer of etcd holds; of more rows, above.
  @Test func aLargeStoreIsReadByPages() throws {
    let cluster = try SharedCluster.one()
    let storage = cluster.storage("/pages")
    try storage.create()
    for index in 0..<40 {
      try storage.save(String(repeating: "y", count: 1_000_000), forKey: "large \(index)")
    }
    let other = cluster.storage("/pages", deadline: .seconds(55))
    #expect(try other.keys().count == 40)
    try other.refresh()
    #expect(try other.load(String.self, forKey: "large 39")?.count == 1_000_000)
  }
}
