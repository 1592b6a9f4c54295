import Foundation
import LocalData
import RemoteBackend
import StorageCore
import TestSupport
import Testing

/// What a store that machines share does over every engine.
package enum FleetPromise: String, CaseIterable, Sendable {
  case aStoreIsMadeOnceAndOnlyByCreate
  case whatOneProgramWritesOthersSee
  case updatesOfManyThreadsCount
  case aLinearizableReadSeesWhatNoWatchHasTold
  /// What LocalData's sync needs.
  case aReplacementComparesForAllMachines

  /// Tries it.
  package func check(over engine: some FleetEngine) async throws {
    switch self {
    case .aStoreIsMadeOnceAndOnlyByCreate: try Self.creation(engine)
    case .whatOneProgramWritesOthersSee: try await Self.following(engine)
    case .updatesOfManyThreadsCount: try Self.counting(engine)
    case .aLinearizableReadSeesWhatNoWatchHasTold: try Self.reading(engine)
    case .aReplacementComparesForAllMachines: try await Self.replacement(engine)
    }
  }

  private static func creation(_ engine: some FleetEngine) throws {
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

  private static func following(_ engine: some FleetEngine) async throws {
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

  private static func counting(_ engine: some FleetEngine) throws {
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

  private static func reading(_ engine: some FleetEngine) throws {
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

  private static func replacement(_ engine: some FleetEngine) async throws {
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
}
