import Foundation
package import RemoteBackend
import StorageCore
import TestSupport
import Testing

/// An engine that tests have started, whatever engine it is.
package protocol FleetEngine: Sendable {
  /// A store of this name, which programs with the same key share; another deadline is another program.
  func store(_ name: String, deadline: Duration, reading: RemoteReading) -> RemoteStorage
  /// Whether the engine has anything of a store.
  func holds(_ name: String) throws -> Bool
}

extension FleetEngine {
  fileprivate func store(
    _ name: String, _ deadline: Int64 = 60, reading: RemoteReading = .cached
  ) -> RemoteStorage {
    store(name, deadline: .seconds(deadline), reading: reading)
  }
}

/// What a store that machines share does over every engine.
package enum FleetPromise: String, CaseIterable, Sendable {
  case aStoreIsMadeOnceAndOnlyByCreate
  case whatOneProgramWritesOthersSee
  case updatesOfManyThreadsCount
  case aLinearizableReadSeesWhatNoWatchHasTold

  /// Tries it.
  package func check(over engine: some FleetEngine) async throws {
    switch self {
    case .aStoreIsMadeOnceAndOnlyByCreate: try Self.creation(engine)
    case .whatOneProgramWritesOthersSee: try await Self.following(engine)
    case .updatesOfManyThreadsCount: try Self.counting(engine)
    case .aLinearizableReadSeesWhatNoWatchHasTold: try Self.reading(engine)
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
}
