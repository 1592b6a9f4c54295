import CryptoCore
import RemoteBackend
import RemoteTesting
import StorageCore
import TestSupport
import Testing

/// Schedules of a few clients over an engine that loses answers, makes commits late and forgets to
/// tell, each chosen by a seed and played by one thread.
@Suite struct SimulationTests {
  @Test(arguments: Depth.cases(Array(0..<8), day: 3))
  func nothingIsLostInventedOrGoesBack(_ part: Int) throws {
    for seed in Depth.steps(0...149) {
      let schedule = Schedule(
        seed: UInt64(part * 10_000 + seed) &+ (Depth.isFull ? 0 : Depth.seed))
      try schedule.play(steps: 60)
      try schedule.requireTruth()
    }
  }
}

/// A clock that goes on only when a schedule says so.
private final class VirtualTime: Sendable {
  private let begin = MonotonicTime.now
  private let passed = Lock<Int64>(0)

  var milliseconds: Int64 { passed.withLock { $0 } }
  func pass(_ milliseconds: Int64) { passed.withLock { $0 += milliseconds } }

  var clock: RemoteClock {
    RemoteClock { [self] in begin.earlier(by: -milliseconds * 1_000_000) }
  }
}

/// One run: clients that add to two counters, and what came of it.
private final class Schedule: @unchecked Sendable {
  // Unchecked: one thread plays it.
  private final class Client {
    let storage: DelegatedStorage
    let place: RemotePlace
    var following: ChangeObservation?
    var isBusy = false
    var seen: [String: Int] = [:]
    /// The latest value under "c", and whether it was seen to be removed.
    var current: (value: Int, isGone: Bool) = (0, true)

    init(_ engine: MemoryEngine, _ time: VirtualTime) {
      var options = RemotePlace.Options()
      options.pause = { _ in }
      options.follows = false
      options.deadline = .seconds(2)
      options.clock = time.clock
      place = RemotePlace(engine, options)
      storage = DelegatedStorage(place, keySource: .key(TestKey.one))
    }
  }

  private let seed: UInt64
  private var random: SeededRandom
  private let cluster = MemoryCluster(isPrompt: false)
  private let time = VirtualTime()
  private var clients: [Client] = []
  /// What was acknowledged, and when.
  private var history: [String: [(time: Int64, value: Int)]] = [:]
  private var isCalm = true
  /// In every other schedule a watch may leave a change out; then only a comparison tells the age.
  private var losesChanges: Bool { seed % 2 == 1 }
  /// In some schedules commits come to be seen in another order than that of their marks.
  private var isUnordered: Bool { seed % 3 == 0 }
  private var depth = 0
  private static let keys = ["a", "b"]
  private var acknowledged: [String: Int] = [:]
  private var unknown: [String: Int] = [:]

  init(seed: UInt64) {
    self.seed = seed
    random = SeededRandom(seed)
    for _ in 0..<3 {
      clients.append(
        Client(
          MemoryEngine(
            cluster, fate: { [unowned self] in fate() },
            beforeAnswer: { [unowned self] in letOthersAct() }), time))
    }
  }

  private func isOne(in count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

  private func fate() -> MemoryEngine.Fate {
    guard !isCalm else { return .done }
    // Now and then an answer takes so long that deadlines pass.
    time.pass(
      isOne(in: 30) ? .random(in: 500...3000, using: &random) : .random(in: 0...20, using: &random))
    letOthersAct()
    switch Int.random(in: 0..<20, using: &random) {
    case 0: return .refused
    case 1: return .answerLost
    case 2: return .late
    default: return .done
    }
  }

  /// Others act between two calls of one client, and before it hears what became of one.
  private func letOthersAct() {
    if !isCalm, depth < 2, isOne(in: 4) { step() }
  }

  func play(steps: Int) throws {
    for client in clients {
      client.following = try client.place.follow { _ in }
      try client.place.repair()
    }
    isCalm = false
    for _ in 0..<steps { step() }
    isCalm = true
  }

  private func step() {
    depth += 1
    defer { depth -= 1 }
    switch Int.random(in: 0..<20, using: &random) {
    case 0: cluster.deliver { _ in losesChanges && isOne(in: 3) }
    case 1: cluster.makeLate { Int.random(in: 0..<$0, using: &random) }
    case 2: cluster.compact()
    case 3: cluster.cutWatches()
    case 4, 5: mend()
    case 6, 7: cluster.deliver()
    case 8: if isUnordered { cluster.begin() }
    case 9: if isOne(in: 2) { cluster.endAll() }
    default: act()
    }
  }

  /// A client finds out what it missed, and follows anew.
  private func mend() {
    guard let client = clients.filter({ !$0.isBusy }).randomElement(using: &random) else { return }
    client.isBusy = true
    defer { client.isBusy = false }
    // What fails now is tried again later.
    client.following = try? client.place.follow { _ in }
    try? client.place.repair()
  }

  private func act() {
    guard let client = clients.filter({ !$0.isBusy }).randomElement(using: &random) else { return }
    let key = Self.keys.randomElement(using: &random)!
    client.isBusy = true
    defer { client.isBusy = false }
    do {
      if isOne(in: 2) {
        let value = try client.storage.update(Int.self, forKey: key) { value in
          value = (value ?? 0) + 1
          return value ?? 0
        }
        acknowledged[key, default: 0] += 1
        history[key, default: []].append((time.milliseconds, value))
      }
      if isOne(in: 3) { try change(client) }
      try lookAtCurrent(client)
      if isOne(in: 3) { try lookNoOlder(than: 200, client, key) } else { try look(client, key) }
    } catch let error as StorageError {
      if error.code == .outcomeUnknown { unknown[key, default: 0] += 1 }
      let known: [StorageError.Code] = [.outcomeUnknown, .unavailable, .timedOut, .busy]
      if !known.contains(error.code) { Issue.record("seed \(seed): \(error)") }
    } catch {
      Issue.record("seed \(seed): \(error)")
    }
  }

  /// What was acknowledged so long ago is seen by a reader that takes nothing older.
  private func lookNoOlder(than age: Int64, _ client: Client, _ key: String) throws {
    let begin = time.milliseconds
    _ = try client.place.allRecords(.cachedFor(.milliseconds(age)))
    try look(client, key)
    let least = history[key, default: []].filter { $0.time <= begin - age }.map(\.value).max() ?? 0
    if !losesChanges, client.seen[key] ?? 0 < least {
      Issue.record(
        "seed \(seed): \(key) is \(client.seen[key] ?? 0), \(least) was there \(age) ms ago")
    }
  }

  /// Counts under "d", and saves the number under "c" or removes what is there.
  private func change(_ client: Client) throws {
    let isRemoval = isOne(in: 2)
    try client.storage.transaction { transaction in
      let number = (try transaction.load(Int.self, forKey: "d") ?? 0) + 1
      try transaction.save(number, forKey: "d")
      try transaction.save(isRemoval ? nil : number, forKey: "c")
    }
  }

  /// No value comes back that was removed or replaced.
  private func lookAtCurrent(_ client: Client) throws {
    guard let value = try client.storage.load(Int.self, forKey: "c") else {
      client.current.isGone = true
      return
    }
    let (last, isGone) = client.current
    if value < last || isGone && value == last {
      Issue.record("seed \(seed): c is \(value) after \(last), removed: \(isGone)")
    }
    client.current = (value, false)
  }

  private func look(_ client: Client, _ key: String) throws {
    let value = try client.storage.load(Int.self, forKey: key) ?? 0
    if value < client.seen[key] ?? 0 {
      Issue.record("seed \(seed): \(key) went from \(client.seen[key] ?? 0) back to \(value)")
    }
    client.seen[key] = value
  }

  /// In the end each client knows what the engine has, and that is what was acknowledged.
  func requireTruth() throws {
    for _ in 0..<100 { cluster.makeLate { _ in 0 } }
    if isOne(in: 2) { cluster.endAll() }
    var last: Set<Int> = []
    for client in clients {
      try client.place.repair()
      try lookAtCurrent(client)
      last.insert(client.current.isGone ? 0 : client.current.value)
    }
    #expect(last.count == 1, "seed \(seed): c is \(last)")
    for key in Self.keys {
      var values: Set<Int> = []
      for client in clients {
        try client.place.repair()
        try look(client, key)
        values.insert(client.seen[key] ?? 0)
      }
      let (least, doubt) = (acknowledged[key] ?? 0, unknown[key] ?? 0)
      #expect(values.count == 1, "seed \(seed): clients see \(values)")
      #expect(
        values.allSatisfy { (least...least + doubt).contains($0) },
        "seed \(seed): \(key) is \(values), \(least) were acknowledged, \(doubt) unknown")
    }
  }
}
