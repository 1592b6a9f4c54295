import Foundation
import RemoteBackend
import RemoteTesting
import StorageCore
import StorageTesting
import Synchronization
import Testing

/// What a body makes of a memory that is behind leaves no call.
@Suite struct VerdictTests {
  private struct Mismatch: Error {}

  private let cluster = MemoryCluster()

  /// A store that no watch tells of changes.
  private func storage(
    _ cluster: MemoryCluster, _ change: (inout RemotePlace.Options) -> Void = { _ in },
    fate: @escaping @Sendable () -> MemoryEngine.Fate = { .done },
    beforeAnswer: @escaping @Sendable () -> Void = {}
  ) -> DelegatedStorage {
    var options = RemotePlace.Options()
    options.follows = false
    change(&options)
    let engine = MemoryEngine(cluster, fate: fate, beforeAnswer: beforeAnswer)
    return DelegatedStorage(RemotePlace(engine, options), keySource: .key(TestKey.one))
  }

  /// A store whose memory has "old", while the engine has "new".
  private func stale(
    fate: @escaping @Sendable () -> MemoryEngine.Fate = { .done }
  ) throws -> DelegatedStorage {
    let (one, other) = (storage(cluster, fate: fate), storage(cluster))
    try other.save("old", forKey: "k")
    #expect(try one.load(String.self, forKey: "k") == "old")
    try other.save("new", forKey: "k")
    try other.save("late", forKey: "absent")
    #expect(try one.load(String.self, forKey: "k") == "old", "nobody told it")
    return one
  }

  @Test func anErrorOfABodyRestsOnWhatTheEngineHas() throws {
    var store = try stale()
    try store.transaction { transaction in
      guard try transaction.load(String.self, forKey: "k") == "new" else { throw Mismatch() }
      try transaction.save("seen", forKey: "result")
    }
    #expect(try store.load(String.self, forKey: "result") == "seen")
    store = try stale()
    try store.update(String.self, forKey: "k") { value in
      guard value == "new" else { throw Mismatch() }
      value = "newer"
    }
    #expect(try store.load(String.self, forKey: "k") == "newer")
    store = try stale()
    #expect(throws: Mismatch.self) {
      try store.transaction { transaction in
        if try transaction.load(String.self, forKey: "k") == "new" { throw Mismatch() }
      }
    }
    store = try stale()
    #expect(throws: Mismatch.self) {
      try store.update(String.self, forKey: "k") { if $0 == "new" { throw Mismatch() } }
    }
  }

  @Test func aResultOfReadsAloneIsTheEngines() throws {
    var store = try stale()
    let read = try store.transaction { try $0.load(String.self, forKey: "k") }
    #expect(read == "new")
    store = try stale()
    #expect(try store.transaction { try $0.contains("absent") })
    store = try stale()
    // A value that seems absent and stays so is a read, too.
    let absent = try store.update(String.self, forKey: "absent") { value in
      let old = value
      value = nil
      return old
    }
    #expect(absent == "late")
  }

  @Test func aValueOfAnotherTypeThatWasReplacedIsNoError() throws {
    let (one, other) = (storage(cluster), storage(cluster))
    try other.save("text", forKey: "n")
    #expect(try one.load(String.self, forKey: "n") == "text")
    try other.save(4, forKey: "n")
    try one.update(Int.self, forKey: "n") { $0 = ($0 ?? 0) + 1 }
    #expect(try one.load(Int.self, forKey: "n") == 5)
  }

  @Test func whoAsksForTheCheapFormGetsWhatMemoryHas() throws {
    let store = try stale()
    #expect(throws: Mismatch.self) {
      try store.store.transaction(within: nil, asksEngine: false) { transaction in
        guard try transaction.load(String.self, forKey: "k") == "new" else { throw Mismatch() }
      }
    }
    #expect(throws: Mismatch.self) {
      try store.update(String.self, forKey: "k", asksEngine: false) { value in
        guard value == "new" else { throw Mismatch() }
      }
    }
    #expect(
      try store.store.transaction(within: nil, asksEngine: false) {
        try $0.load(String.self, forKey: "k")
      } == "old")
    // What it writes is checked all the same.
    let made = try store.store.transaction(within: nil, asksEngine: false) { transaction in
      let value = try transaction.load(String.self, forKey: "k")
      try transaction.save("x", forKey: "other")
      return value
    }
    #expect(made == "new")
  }

  @Test func whileTheEngineIsAwayNoVerdictLeaves() throws {
    let isAway = Atomic<Bool>(false)
    let store = try stale { isAway.load(ordering: .relaxed) ? .refused : .done }
    isAway.store(true, ordering: .relaxed)
    for call in [
      {
        try store.transaction { transaction in
          if try transaction.load(String.self, forKey: "k") != "new" { throw Mismatch() }
        }
      },
      { try store.transaction { _ = try $0.load(String.self, forKey: "k") } },
      { _ = try store.update(String.self, forKey: "k") { _ in throw Mismatch() } },
    ] as [() throws -> Void] {
      #expect(code(call) == .unavailable)
    }
    #expect(try store.load(String.self, forKey: "k") == "old")
  }

  /// Each answer finds another writer, so reads that are compared later would never agree.
  @Test func manyReadsBesideWritersEndWithOneAnswerOfAllAtOneMoment() throws {
    let other = storage(cluster)
    let names = (0..<60).map { "\($0)" }
    func write(_ round: Int) {
      try? other.saveAll(Dictionary(uniqueKeysWithValues: names.map { (StoreKey($0), round) }))
    }
    write(0)
    let round = Atomic<Int>(0)
    let isBusy = Atomic<Bool>(false)
    let store = storage(
      cluster,
      beforeAnswer: {
        guard isBusy.load(ordering: .relaxed) else { return }
        let next = round.add(1, ordering: .relaxed).newValue
        try? other.saveAll(Dictionary(uniqueKeysWithValues: names.map { (StoreKey($0), next) }))
      })
    #expect(try store.load(Int.self, forKey: "0") == 0)
    write(-1)
    isBusy.store(true, ordering: .relaxed)
    var runs = 0
    let all = try store.transaction { transaction in
      runs += 1
      return try names.map { try transaction.load(Int.self, forKey: StoreKey($0)) }
    }
    #expect(Set(all).count == 1)
    #expect(runs == 2)
  }

  @Test(arguments: ["update", "transaction"])
  func runsEndWithTheTimeOfACall(_ kind: String) throws {
    let other = storage(cluster)
    let store = storage(cluster) { $0.deadline = .milliseconds(300) }
    try other.save(0, forKey: "n")
    var runs = 0
    let start = ContinuousClock.now
    let failure = code {
      // Somebody else is always faster.
      if kind == "update" {
        try store.update(Int.self, forKey: "n") { value in
          runs += 1
          try other.save(runs, forKey: "n")
          value = -1
        }
      } else {
        try store.transaction { transaction in
          runs += 1
          _ = try transaction.load(Int.self, forKey: "n")
          try other.save(runs, forKey: "n")
          try transaction.save(-1, forKey: "n")
        }
      }
    }
    #expect(failure == .busy)
    #expect(runs > 1)
    // Half a minute without the limit.
    #expect(start.duration(to: .now) < .seconds(20))
    #expect(try other.load(Int.self, forKey: "n") == runs)
  }
}
