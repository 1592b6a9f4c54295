import EtcdBackend
import Foundation
import Glibc
import StorageCore
import VaultBackend

/// Reads and writes of a store that machines share, over real servers on this machine.
final class FleetCalls<Servers: FleetServers> {
  private let servers: Servers
  private let storage: RemoteStorage

  private init() throws {
    servers = try Servers()
    storage = servers.storage("bench")
    try storage.create()
  }

  // MARK: One thread

  static func comparisons(_ isChosen: (String) -> Bool) throws -> [Comparison] {
    let names = (
      read: "\(Servers.wrapper) String: read", write: "\(Servers.wrapper) String: write"
    )
    guard isChosen(names.read) || isChosen(names.write) else { return [] }
    let calls = try FleetCalls()
    try calls.storage.save(Fleet.token, forKey: "username")
    try VaultStorage.standard.save(Fleet.token, forKey: "username")
    let bare = try calls.servers.bareClient(threads: 1)
    let storage = calls.storage
    return [
      Comparison(
        names.read, against: "@Vault read", in: .fleet, target: 1.5,
        floor: { rounds in try read(VaultStorage.standard, rounds) },
        ours: { rounds in try read(storage, rounds) }),
      Comparison(
        names.write, against: Servers.bareWrite, in: .fleet, target: 1.15, clock: .wall,
        batch: 2e7, company: { calls },
        floor: { rounds in try bare.put(thread: 0, rounds) },
        ours: { rounds in
          for _ in 0..<rounds { try storage.save(Fleet.token, forKey: "username") }
        }),
    ]
  }

  private static func read(_ storage: some Storage, _ rounds: Int) throws {
    var count = 0
    for _ in 0..<rounds {
      count &+= try storage.load(String.self, forKey: "username")?.utf8.count ?? 0
    }
    guard count == rounds * Fleet.token.utf8.count else { throw Fleet.WrongValue() }
  }

  // MARK: Many threads, processes and values

  static func figures() throws -> [Figure] {
    let calls = try FleetCalls()
    return try [calls.threads(), calls.watchers()] + calls.manyValues()
  }

  /// Eight threads that write, each its own value.
  private func threads() throws -> Figure {
    let bare = try servers.bareClient(threads: 8)
    let storage = storage
    var (ours, floor): ([Double], [Double]) = ([], [])
    for _ in 0..<7 {
      ours.append(
        Self.time { thread in
          for _ in 0..<100 { try storage.save(Fleet.token, forKey: StoreKey("thread \(thread)")) }
        })
      floor.append(Self.time { thread in try bare.put(thread: thread, 100) })
    }
    let rate = 800e9 / ours.median
    let isEnough = Servers.enoughWrites.map { rate >= $0 } ?? false
    let enough = Servers.enoughWrites.map { ", \(shown($0, 0)) are enough" } ?? ""
    return Figure(
      name: "fleet, \(Servers.engine): 8 threads write, beside the bare client",
      value: floor.median / ours.median,
      unit: "of its throughput (\(shown(rate, 0)) a second\(enough))", limit: nil,
      least: isEnough ? nil : 0.9)
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
      try Helper.start(["--watch-\(Servers.engine)", servers.address, "\(changes)"])
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
      name: "fleet, \(Servers.engine): 20 processes see a change, p99",
      value: delays[delays.count * 99 / 100] / 1e6,
      unit: "ms (p50 \(shown(delays.median / 1e6, 2)))", limit: 50)
  }

  /// What a process that watches does: it prints when it saw each value.
  static func watch(_ address: String, _ changes: Int) throws {
    let storage = Servers.storage(address, "bench")
    guard try storage.load(Int.self, forKey: "watched") == 0 else { throw Fleet.WrongValue() }
    let end = DispatchSemaphore(value: 0)
    let live = Live<Int, RemoteStorage>(wrappedValue: 0, storage, "watched")
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
    try servers.storage("one").create()
    try servers.storage("one").save(value, forKey: "value 0")
    let large = servers.storage("many")
    try large.create()
    for start in stride(from: 0, to: Fleet.many, by: 100) {
      try large.transaction { transaction in
        for number in start..<start + 100 {
          try transaction.save(value, forKey: StoreKey("value \(number)"))
        }
      }
    }
    let one = try (0..<3).map { _ in try opening("one") }
    let many = try (0..<3).map { _ in try opening("many") }
    return [
      Figure(
        name: "fleet, \(Servers.engine): 100,000 values, ready in",
        value: many.map(\.time).median / 1e9, unit: "s",
        limit: Servers.readyLimit),
      Figure(
        name: "fleet, \(Servers.engine): 100,000 values, resident",
        value: (many.map(\.size).median - one.map(\.size).median) / 1e6, unit: "MB", limit: 64),
    ]
  }

  /// How long a process takes to open a store, in nanoseconds, and how large it is then, in bytes.
  private func opening(_ name: String) throws -> (time: Double, size: Double) {
    let helper = try Helper.start(["--open-\(Servers.engine)", servers.address, name])
    let data = try helper.output.fileHandleForReading.readToEnd() ?? Data()
    helper.process.waitUntilExit()
    let words = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isWhitespace)
      .compactMap { Double($0) }
    guard words.count == 2 else { throw Helper.Failed() }
    return (words[0], words[1])
  }

  /// What a process that opens a store does: it prints how long that takes, and its size.
  static func open(_ address: String, _ name: String) throws {
    let start = Clock.wall.nanoseconds
    let storage = Servers.storage(address, name)
    guard try storage.load(String.self, forKey: "value 0")?.utf8.count == 300 else {
      throw Fleet.WrongValue()
    }
    let time = Clock.wall.nanoseconds - start
    usleep(500_000)
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
    let size = Double(line.split(separator: " ").dropFirst().first ?? "") ?? 0
    print(Int(time), Int(size * 1024))
  }
}
