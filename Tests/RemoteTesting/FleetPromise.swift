import CryptoCore
import Foundation
import LocalData
import RemoteBackend
import StorageCore
import TestSupport
import Testing

/// What a store that machines share does over every engine.
package enum FleetPromise {
  package static let all: [EnginePromise] = [
    EnginePromise("a store is made once and only by create", creation),
    EnginePromise("what one program writes others see", following),
    EnginePromise("updates of many threads count", counting),
    EnginePromise("a linearizable read sees what no watch has told", reading),
    EnginePromise("a replacement compares for all machines", replacement),
    EnginePromise("no write is made under a key that another machine has replaced", replacedKeys),
    EnginePromise("where nobody answers each call ends at the deadline", absence),
    EnginePromise("a connection that is silently gone is found", muteness),
    EnginePromise("what a lost answer leaves open is found out", lostAnswers),
    EnginePromise("a child of a fork is told that it can't go on", forking),
  ]

  private static func creation(_ engine: any FleetEngine) throws {
    let storage = engine.store("made")
    for _ in 0..<2 {
      let error = #expect(throws: StorageError.self) { try storage.save("a", forKey: "k") }
      #expect(error?.code == .unavailable)
    }
    #expect(throws: StorageError.self) { try storage.open() }
    #expect(try !engine.holds("made"))
    try storage.create()
    #expect(try engine.holds("made"), "the search finds what is there")
    try storage.save("a", forKey: "k")
    #expect(try storage.load(String.self, forKey: "k") == "a")
    let error = #expect(throws: StorageError.self) { try storage.create() }
    #expect(error?.code == .duplicate)
    #expect(storage.url == nil)
  }

  private static func following(_ engine: any FleetEngine) async throws {
    let one = engine.store("seen")
    try one.create()
    let other = engine.store("seen", 59)
    try other.open(.mustExist)
    for value in 0..<20 {
      try one.save(value, forKey: "n")
      #expect(try other.load(Int.self, forKey: "m") == nil)
      while try other.load(Int.self, forKey: "n") != value {
        try await Task.sleep(for: .milliseconds(1))
      }
    }
    try one.delete(forKey: "n")
    while try other.load(Int.self, forKey: "n") != nil {
      try await Task.sleep(for: .milliseconds(1))
    }
    #expect(try other.keys().isEmpty)
  }

  private static func counting(_ engine: any FleetEngine) throws {
    let storage = engine.store("count")
    try storage.create()
    let others = [engine.store("count", 70), engine.store("count", 71)]
    Threads.run(4) { index in
      for _ in 0..<50 {
        #expect(throws: Never.self) {
          try others[index % 2].update(Int.self, forKey: "n") { $0 = ($0 ?? 0) + 1 }
        }
      }
    }
    let last = engine.store("count", reading: .linearizable)
    #expect(try last.load(Int.self, forKey: "n") == 200)
  }

  private static func replacedKeys(_ engine: any FleetEngine) throws {
    let one = engine.store("rekeyed")
    try one.create()
    let other = engine.store("rekeyed", 59)
    for round in 0..<20 {
      #expect(try other.load(Int.self, forKey: "absent") == nil)
      _ = try one.keyAdministration.rotateDataKey()
      _ = try one.keyAdministration.reencrypt()
      // Most often before it has heard of that, and of a name that only the header can protect.
      try other.save(round, forKey: StoreKey("\(round)"))
    }
    let last = engine.store("rekeyed", reading: .linearizable)
    for round in 0..<20 { #expect(try last.load(forKey: StoreKey("\(round)")) == round) }
  }

  private static func reading(_ engine: any FleetEngine) throws {
    let one = engine.store("linear")
    try one.create()
    let other = engine.store("linear", 50, reading: .linearizable)
    for value in 0..<50 {
      try one.save(value, forKey: "n")
      #expect(try other.load(Int.self, forKey: "n") == value)
      #expect(try other.keys() == ["n"])
    }
    let aged = engine.store("linear", 40, reading: .cached(maximumAge: .milliseconds(1)))
    for value in 0..<50 {
      try one.save(value, forKey: "n")
      usleep(1_100)  // until the age has passed
      #expect(try aged.load(Int.self, forKey: "n") == value)
    }
  }

  private static func replacement(_ engine: any FleetEngine) async throws {
    try engine.store("sync").create()
    let transports = (0..<4).map { machine in
      StorageSyncTransport(
        engine.store("sync", 50 + machine, reading: .linearizable),
        id: "team")
    }
    #expect(try await transports[0].read("counter") == nil)
    // Each machine adds one, ten times, by what it has read; nobody's addition may be lost.
    try await withThrowingTaskGroup { group in
      for transport in transports {
        group.addTask {
          var added = 0
          while added < 10 {
            let old = try await transport.read("counter")
            let new = Data([(old?.first ?? 0) + 1])
            if try await transport.replace("counter", old, with: new) { added += 1 }
          }
        }
      }
      try await group.waitForAll()
    }
    for transport in transports {
      #expect(try await transport.read("counter") == Data([40]))
      #expect(try await !transport.replace("counter", nil, with: Data([0])))
      #expect(try await !transport.replace("counter", Data([39]), with: Data([0])))
    }
  }

  private static func absence(_ engine: any FleetEngine) throws {
    let storage = engine.store(
      "nobody", keySource: .key(SymmetricKey(size: .bits256)), deadline: .milliseconds(500),
      reading: .cached, copy: nil, port: FreePorts.find(1)[0])
    for _ in 0..<2 {
      #expect(code { _ = try storage.load(Int.self, forKey: "n") } == .unavailable)
    }
  }

  private static func muteness(_ engine: any FleetEngine) throws {
    let proxy = FaultProxy(to: engine.ports[0])
    defer { proxy.end() }
    let direct = engine.store("mute")
    try direct.create()
    try direct.save("a", forKey: "k")
    let through = engine.store("mute", 8, port: proxy.port)
    #expect(try through.load(String.self, forKey: "k") == "a")
    proxy.mode = .mute
    #expect(try through.load(String.self, forKey: "k") == "a")
    #expect(
      [.timedOut, .outcomeUnknown, .unavailable].contains(
        code { try through.save("lost", forKey: "other") }))
    try direct.save("b", forKey: "k")
    while true {
      if case .away = through.state { break }
      usleep(10_000)
    }
    proxy.mode = .pass
    while try through.load(String.self, forKey: "k") != "b" { usleep(1_000) }
  }

  private static func lostAnswers(_ engine: any FleetEngine) throws {
    let proxy = FaultProxy(to: engine.ports[0])
    defer { proxy.end() }
    try engine.store("lost").create()
    let program = engine.store("lost", port: proxy.port)
    try program.save(0, forKey: "n")
    let times = Depth.count(10, day: 4)
    for _ in 0..<times {
      proxy.mode = .cutAfterRequest
      // Some get through on their way to finding out; then the next goes on as before.
      DetachedThread.start("again") {
        usleep(300_000)
        proxy.mode = .pass
      }
      try program.update(Int.self, forKey: "n") { $0 = ($0 ?? 0) + 1 }
      proxy.mode = .pass
    }
    let exact = engine.store("lost", reading: .linearizable)
    #expect(try exact.load(Int.self, forKey: "n") == times)
  }

  private static func forking(_ engine: any FleetEngine) throws {
    let storage = engine.store("fork")
    try storage.create()
    try storage.save("a", forKey: "k")
    let result = ForkedChild.run(deadline: 60) { _ in
      let reads = (try? storage.load(String.self, forKey: "k")) == "a"
      do { try storage.save("b", forKey: "k") } catch {
        return reads && (error as? StorageError)?.code == .unsupported ? 0 : 1
      }
      return 2
    }
    #expect(result.outcome == .exited(0))
    #expect(try storage.load(String.self, forKey: "k") == "a")
    try storage.save("c", forKey: "k")
  }
}
