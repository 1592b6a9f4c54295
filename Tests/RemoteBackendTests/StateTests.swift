import Foundation
import RemoteBackend
import RemoteTesting
import StorageCore
import StorageTesting
import Synchronization
import Testing

/// What a place says of its connection is what the last exchanges prove.
struct StateTests {
  /// What becomes of calls; an engine that is cut refuses to be watched, too.
  private final class Line: Sendable {
    let error = Lock<StorageError?>(nil)
  }

  /// An engine over another, whose calls fail with an error while there is one.
  private struct Engine: RemoteEngine {
    let inner: MemoryEngine
    let line: Line
    var title: String { inner.title }
    var limits: RemoteLimits { inner.limits }

    private func check() throws(StorageError) {
      if let error = line.error.withLock({ $0 }) { throw error }
    }
    func history(by deadline: Deadline) throws(StorageError) -> String {
      try check()
      return try inner.history(by: deadline)
    }
    func read(
      _ keys: [RowKey], by deadline: Deadline
    ) throws(StorageError) -> (rows: [Row], mark: Mark) {
      try check()
      return try inner.read(keys, by: deadline)
    }
    func commit(_ commit: RemoteCommit, by deadline: Deadline) throws(StorageError) -> Mark? {
      try check()
      return try inner.commit(commit, by: deadline)
    }
    func list(
      keysOnly: Bool, by deadline: Deadline, _ body: ([Row]) throws(StorageError) -> Void
    ) throws(StorageError) -> Moment {
      try check()
      return try inner.list(keysOnly: keysOnly, by: deadline, body)
    }
    func watch(
      from mark: Mark, _ tell: @escaping @Sendable (WatchSignal) -> Void
    ) -> ChangeObservation { inner.watch(from: mark, tell) }
  }

  private func place(
    _ cluster: MemoryCluster, _ line: Line, _ change: (inout RemotePlace.Options) -> Void
  ) -> (DelegatedStorage, RemotePlace) {
    var options = RemotePlace.Options()
    options.deadline = .milliseconds(200)
    change(&options)
    let place = RemotePlace(Engine(inner: MemoryEngine(cluster), line: line), options)
    return (DelegatedStorage(place, keySource: .key(TestKey.one)), place)
  }

  private func name(_ state: RemoteState) -> String {
    switch state {
    case .unused: "unused"
    case .current: "current"
    case .away(let error, _, _): "away \(error.code)"
    case .unkept(let error, _, _): "unkept \(error.code)"
    }
  }

  private enum Step {
    case fails(StorageError.Code)
    case heals, reads, writes, compares
  }

  @Test func eachExchangeChangesTheStateAsTheTableSays() throws {
    let table: [(steps: [Step], state: String)] = [
      ([], "current"),
      ([.reads], "current"),
      ([.fails(.unavailable), .reads], "away unavailable"),
      ([.fails(.unavailable), .writes], "away unavailable"),
      ([.fails(.unavailable), .compares], "away unavailable"),
      ([.fails(.denied), .reads], "away denied"),
      ([.fails(.denied), .writes], "away denied"),
      ([.fails(.timedOut), .compares], "away timedOut"),
      ([.fails(.outcomeUnknown), .writes], "away outcomeUnknown"),
      // The last failure counts.
      ([.fails(.unavailable), .reads, .fails(.denied), .reads], "away denied"),
      // One answer of any kind shows that the engine is there.
      ([.fails(.unavailable), .reads, .heals], "away unavailable"),
      ([.fails(.unavailable), .reads, .heals, .reads], "current"),
      ([.fails(.denied), .reads, .heals, .writes], "current"),
      ([.fails(.denied), .writes, .heals, .compares], "current"),
      // These are answers of an engine that is there.
      ([.fails(.invalid), .writes], "current"),
      ([.fails(.busy), .reads], "current"),
    ]
    for (steps, expected) in table {
      let line = Line()
      let (storage, place) = place(MemoryCluster(), line) { $0.follows = false }
      try storage.save(1, forKey: "k")
      let key = try #require(try place.names().first)
      for step in steps {
        switch step {
        case .fails(let code): line.error.withLock { $0 = StorageError(code, "as told") }
        case .heals: line.error.withLock { $0 = nil }
        case .reads: _ = code { _ = try place.lookup(key, .linearizable) }
        case .writes: _ = code { try storage.save(2, forKey: "k") }
        case .compares: _ = code { try place.repair() }
        }
      }
      #expect(name(place.state) == expected, "after \(steps)")
    }
  }

  @Test func aLostWatchIsAwayUntilAComparisonAndIsToldOnceEach() throws {
    let (cluster, line) = (MemoryCluster(), Line())
    let (storage, place) = place(cluster, line) { _ in }
    let told = Lock<[String]>([])
    let watching = place.watchConnection { event in
      told.withLock { events in
        switch event {
        case .lost(let error): events.append("lost \(error.code)")
        case .found(let span): events.append(span > .zero ? "found" : "found too soon")
        case .repaired(let count): events.append("repaired \(count)")
        }
      }
    }
    defer { withExtendedLifetime(watching) {} }
    try storage.save(1, forKey: "k")
    line.error.withLock { $0 = StorageError(.unavailable, "cut") }
    cluster.cutWatches()
    while name(place.state) == "current" { usleep(1_000) }
    for _ in 0..<3 { _ = code { try place.repair() } }
    #expect(told.withLock { $0 } == ["lost unavailable"])
    line.error.withLock { $0 = nil }
    while name(place.state) != "current" { usleep(1_000) }
    #expect(told.withLock { $0 } == ["lost unavailable", "found"])
  }

  @Test func whatAComparisonFoundIsCounted() throws {
    let cluster = MemoryCluster(isPrompt: false)
    let (storage, place) = place(cluster, Line()) { $0.follows = false }
    let (other, _) = self.place(cluster, Line()) { $0.follows = false }
    try other.save(1, forKey: "a")
    try other.save(1, forKey: "b")
    #expect(try storage.load(Int.self, forKey: "a") == 1)
    let following = try place.follow { _ in }
    defer { withExtendedLifetime(following) {} }
    try place.repair()
    let count = Lock(0)
    let watching = place.watchConnection { event in
      if case .repaired(let found) = event { count.withLock { $0 += found } }
    }
    defer { withExtendedLifetime(watching) {} }
    // What is only late was not missed.
    try other.save(2, forKey: "a")
    try place.repair()
    #expect(count.withLock { $0 } == 0)
    try other.save(3, forKey: "a")
    try other.delete(forKey: "b")
    try other.save(1, forKey: "c")
    cluster.deliver { _ in true }
    try place.repair()
    #expect(count.withLock { $0 } == 3)
    #expect(try storage.load(Int.self, forKey: "a") == 3)
    #expect(try Set(storage.keys()) == ["a", "c"])
  }

  @Test func aComparisonAfterANewWatchTellsHowOldMemoryIs() throws {
    let (begin, passed) = (MonotonicTime.now, Lock(Int64(0)))
    let (storage, place) = place(MemoryCluster(), Line()) { options in
      options.follows = false
      options.clock = RemoteClock { begin.earlier(by: -passed.withLock { $0 }) }
    }
    try storage.save(1, forKey: "k")
    for _ in 0..<3 {
      passed.withLock { $0 += 100_000_000_000 }
      let following = try place.follow { _ in }
      defer { withExtendedLifetime(following) {} }
      try place.repair()
      #expect(place.age == .zero)
    }
  }

  @Test func aCopyThatCantBeWrittenIsSaid() throws {
    let copyLine = Line()
    let (copy, _) = place(MemoryCluster(), copyLine) { $0.follows = false }
    let (storage, place) = place(MemoryCluster(), Line()) { options in
      options.follows = false
      options.copy = copy
    }
    try storage.save(1, forKey: "k")
    try place.keep()
    #expect(name(place.state) == "current")
    copyLine.error.withLock { $0 = StorageError(.denied, "no room") }
    try storage.save(2, forKey: "k")
    #expect(code { try place.keep() } == .denied)
    #expect(name(place.state) == "unkept denied")
    copyLine.error.withLock { $0 = nil }
    try place.keep()
    #expect(name(place.state) == "current")
  }
}
