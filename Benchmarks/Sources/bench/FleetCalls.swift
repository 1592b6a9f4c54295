import CEtcd
import CryptoCore
import EtcdBackend
import Foundation
import Glibc
import StorageCore
import VaultBackend

/// Reads and writes of a store in etcd, over three members on this machine.
final class EtcdCalls {
  private static let token = String(repeating: "t", count: 32)
  /// About as long as the sealed record of the token.
  private static let recordSize = 176
  private static let many = 100_000

  private let cluster: EtcdCluster
  private let storage: EtcdStorage

  private init() throws {
    cluster = try EtcdCluster()
    storage = cluster.storage()
    try storage.create()
  }

  struct WrongValue: Error {}

  /// A connection without the library.
  @safe
  private final class Bare: @unchecked Sendable {
    // gRPC's channels may be used by any thread.
    private let peer: OpaquePointer

    init(_ endpoint: String) throws {
      guard let peer = unsafe etcd_peer_open("dns:///" + endpoint.dropFirst("http://".count)) else {
        throw EtcdCluster.Failed(description: "there is no bare connection to etcd")
      }
      unsafe self.peer = unsafe peer
    }

    deinit { unsafe etcd_peer_close(peer) }

    func put(_ key: String, _ rounds: Int) throws {
      for _ in 0..<rounds {
        guard unsafe etcd_peer_put(peer, key, recordSize) == 0 else {
          throw EtcdCluster.Failed(description: "the bare transaction was refused")
        }
      }
    }
  }

  // MARK: One thread

  static func comparisons(_ isChosen: (String) -> Bool) throws -> [Comparison] {
    let names = (read: "@Etcd String: read", write: "@Etcd String: write")
    guard isChosen(names.read) || isChosen(names.write) else { return [] }
    let calls = try EtcdCalls()
    try calls.storage.save(token, forKey: "username")
    try VaultStorage.standard.save(token, forKey: "username")
    let bare = try Bare(calls.cluster.endpoints[0])
    let storage = calls.storage
    return [
      Comparison(
        names.read, against: "@Vault read", in: .fleet, target: 1.5,
        floor: { rounds in try read(VaultStorage.standard, rounds) },
        ours: { rounds in try read(storage, rounds) }),
      Comparison(
        names.write, against: "bare transaction of etcd", in: .fleet, target: 1.15, clock: .wall,
        batch: 2e7, company: { calls },
        floor: { rounds in try bare.put("/bare/row", rounds) },
        ours: { rounds in
          for _ in 0..<rounds { try storage.save(token, forKey: "username") }
        }),
    ]
  }

  private static func read(_ storage: some Storage, _ rounds: Int) throws {
    var count = 0
    for _ in 0..<rounds {
      count &+= try storage.load(String.self, forKey: "username")?.utf8.count ?? 0
    }
    guard count == rounds * token.utf8.count else { throw WrongValue() }
  }

  // MARK: Many threads, processes and values

  static func figures() throws -> [Figure] {
    let calls = try EtcdCalls()
    return try [calls.threads(), calls.watchers()] + calls.manyValues()
  }

  /// Eight threads that write, each its own value.
  private func threads() throws -> Figure {
    let bare = try Bare(cluster.endpoints[0])
    let storage = storage
    var (ours, floor): ([Double], [Double]) = ([], [])
    for _ in 0..<7 {
      ours.append(
        Self.time { thread in
          for _ in 0..<100 { try storage.save(Self.token, forKey: StoreKey("thread \(thread)")) }
        })
      floor.append(Self.time { thread in try bare.put("/bare/\(thread)", 100) })
    }
    return Figure(
      name: "fleet: 8 threads write, beside the bare client", value: floor.median / ours.median,
      unit: "of its throughput (\(shown(800e9 / ours.median, 0)) a second)", limit: nil, least: 0.9)
  }

  /// Nanoseconds that eight threads take.
  private static func time(_ body: @escaping @Sendable (Int) throws -> Void) -> Double {
    let group = DispatchGroup()
    let start = Clock.wall.nanoseconds
    for thread in 0..<8 {
      group.enter()
      Thread.detachNewThread {
        do { try body(thread) } catch { fatalError("a write failed: \(error)") }
        group.leave()
      }
    }
    group.wait()
    return Clock.wall.nanoseconds - start
  }

  /// Twenty processes that follow one value; from the acknowledgement of a write to each that sees it.
  private func watchers() throws -> Figure {
    let changes = 100
    try storage.save(0, forKey: "watched")
    let helpers = try (0..<20).map { _ in
      try Helper.start(["--watch-etcd", cluster.endpoints.joined(separator: ","), "\(changes)"])
    }
    for helper in helpers {
      guard try helper.output.fileHandleForReading.read(upToCount: 6)?.count == 6 else {
        throw Helper.Failed()
      }
    }
    // Until all follow.
    sleep(1)
    var acknowledged: [Double] = []
    for change in 1...changes {
      try storage.save(change, forKey: "watched")
      acknowledged.append(Clock.wall.nanoseconds)
      usleep(50_000)
    }
    var delays: [Double] = []
    for helper in helpers {
      let data = try helper.output.fileHandleForReading.readToEnd() ?? Data()
      let seen = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        .compactMap {
          Double($0)
        }
      guard seen.count == changes else { throw Helper.Failed() }
      delays += zip(seen, acknowledged).map { max($0 - $1, 0) }
      helper.process.waitUntilExit()
    }
    delays.sort()
    return Figure(
      name: "fleet: 20 processes see a change, p99", value: delays[delays.count * 99 / 100] / 1e6,
      unit: "ms (p50 \(shown(delays.median / 1e6, 2)))", limit: 50)
  }

  /// What a process that watches does: it prints when it saw each value.
  static func watch(_ endpoints: String, _ changes: Int) throws {
    let storage = EtcdCluster.storage(
      endpoints.split(separator: ",").map(String.init), "/bench")
    guard try storage.load(Int.self, forKey: "watched") == 0 else { throw WrongValue() }
    let end = DispatchSemaphore(value: 0)
    let live = Live<Int, EtcdStorage>(wrappedValue: 0, storage, "watched")
    Task {
      var seen: [Double] = []
      // The parent waits for a line.
      _ = unsafe write(1, "ready\n", 6)
      for try await value in live.values {
        let time = Clock.wall.nanoseconds
        // A value that was passed over was seen with the one after it.
        while seen.count < value { seen.append(time) }
        guard seen.count == changes else { continue }
        print(seen.map { String(Int($0)) }.joined(separator: " "))
        _ = end.signal()
        return
      }
    }
    end.wait()
  }

  /// 100,000 values of 300 bytes, in a process that opens them, beside one that opens a single one.
  private func manyValues() throws -> [Figure] {
    let value = String(repeating: "v", count: 300)
    try cluster.storage("/one").create()
    try cluster.storage("/one").save(value, forKey: "value 0")
    let large = cluster.storage("/many")
    try large.create()
    for start in stride(from: 0, to: Self.many, by: 100) {
      try large.transaction { transaction in
        for number in start..<start + 100 {
          try transaction.save(value, forKey: StoreKey("value \(number)"))
        }
      }
    }
    let one = try (0..<3).map { _ in try opening("/one") }
    let many = try (0..<3).map { _ in try opening("/many") }
    return [
      Figure(
        name: "fleet: 100,000 values, ready in", value: many.map(\.time).median / 1e9, unit: "s",
        limit: 1.5),
      Figure(
        name: "fleet: 100,000 values, resident",
        value: (many.map(\.size).median - one.map(\.size).median) / 1e6, unit: "MB", limit: 64),
    ]
  }

  /// How long a process takes to open a store, in nanoseconds, and how large it is then, in bytes.
  private func opening(_ prefix: String) throws -> (time: Double, size: Double) {
    let helper = try Helper.start([
      "--open-etcd", cluster.endpoints.joined(separator: ","), prefix,
    ])
    let data = try helper.output.fileHandleForReading.readToEnd() ?? Data()
    helper.process.waitUntilExit()
    let words = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isWhitespace)
      .compactMap { Double($0) }
    guard words.count == 2 else { throw Helper.Failed() }
    return (words[0], words[1])
  }

  /// What a process that opens a store does: it prints how long that takes, and its size.
  static func open(_ endpoints: String, _ prefix: String) throws {
    let start = Clock.wall.nanoseconds
    let storage = EtcdCluster.storage(endpoints.split(separator: ",").map(String.init), prefix)
    guard try storage.load(String.self, forKey: "value 0")?.utf8.count == 300 else {
      throw WrongValue()
    }
    let time = Clock.wall.nanoseconds - start
    usleep(500_000)
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
    let size = Double(line.split(separator: " ").dropFirst().first ?? "") ?? 0
    print(Int(time), Int(size * 1024))
  }
}
