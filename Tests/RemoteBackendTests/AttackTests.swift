import CryptoCore
import Foundation
import RemoteBackend
import RemoteTesting
import StorageCore
import StorageTesting
import Synchronization
import TestSupport
import Testing

/// What others do to a store at the worst moment: other machines, and who can write to the engine.
struct AttackTests {
  private static let other = SymmetricKey(data: Data(repeating: 2, count: 32))

  private func storage(
    _ cluster: MemoryCluster, key: SymmetricKey = TestKey.one,
    _ change: (inout RemotePlace.Options) -> Void = { _ in },
    fate: @escaping @Sendable () -> MemoryEngine.Fate = { .done }
  ) -> (storage: DelegatedStorage, place: RemotePlace) {
    var options = RemotePlace.Options()
    options.follows = false
    change(&options)
    let place = RemotePlace(MemoryEngine(cluster, fate: fate), options)
    return (DelegatedStorage(place, keySource: .key(key)), place)
  }

  /// The rows of records.
  private func records(_ cluster: MemoryCluster) -> [(key: RowKey, value: [UInt8]?)] {
    cluster.rows.filter {
      if case .record = $0.key { return true }
      return false
    }.map { ($0.key, $0.value) }
  }

  // MARK: Lanes

  /// Two copies of a virtual machine go on with the same lanes.
  @Test(
    arguments: [MemoryEngine.Fate.late, .answerLost, .doneAndFull],
    [[0, 0, 0, 0, 0, 0, 0, 2], Array("of another copy.".utf8)])
  func whatAnotherCopyOfTheMachineWroteSettlesNoCommit(
    _ fate: MemoryEngine.Fate, _ foreign: [UInt8]
  ) throws {
    let cluster = MemoryCluster()
    let calls = Atomic<Int>(.min)
    let (one, _) = storage(
      cluster,
      fate: {
        switch calls.add(1, ordering: .relaxed).newValue {
        case 1: return fate
        case 2:
          for case .lane(let id) in cluster.rows.keys { cluster.tamper([(.lane(id), foreign)]) }
          return .done
        default: return .done
        }
      })
    try one.save(1, forKey: "n")
    calls.store(0, ordering: .relaxed)
    #expect(code { try one.update(Int.self, forKey: "n") { $0! += 1 } } == .outcomeUnknown)
    let isMade = if case .late = fate { false } else { true }
    #expect(try storage(cluster).storage.load(Int.self, forKey: "n") == (isMade ? 2 : 1))
    // It goes on with another lane.
    try one.save(5, forKey: "n")
    #expect(try storage(cluster).storage.load(Int.self, forKey: "n") == 5)
  }

  // MARK: Rotation

  @Test(arguments: 1...16)
  func aWriteBetweenTheCallsOfARotationIsKept(_ call: Int) throws {
    let cluster = MemoryCluster()
    let (other, _) = storage(cluster)
    for number in 0..<5 { try other.save("old", forKey: StoreKey("k\(number)")) }
    let calls = Atomic<Int>(0)
    let (rotator, place) = storage(
      cluster,
      fate: {
        guard calls.add(1, ordering: .relaxed).newValue == call else { return .done }
        // While the header is the old one, it is acknowledged under the old key.
        try? other.save("new", forKey: "k0")
        try? other.save("new", forKey: "added")
        return .done
      })
    try place.repair()
    calls.store(0, ordering: .relaxed)
    let report = try rotator.keyAdministration.rotate(openedBy: .key(Self.other))
    #expect(report.setAside == 0 && report.remaining == 0)
    let (later, _) = storage(cluster, key: Self.other)
    // Whether the write was before the rotation or was refused because of it.
    let isThere = try later.load(String.self, forKey: "added") == "new"
    #expect(try later.load(String.self, forKey: "k0") == (isThere ? "new" : "old"))
    #expect(try later.keys().count == (isThere ? 6 : 5))
    #expect(try later.listing().unreadable == 0)
  }

  @Test func whatSomebodyWithTheOldKeyWritesAfterARotationBeganIsNotTaken() throws {
    let cluster = MemoryCluster()
    let (other, _) = storage(cluster)
    try other.save("old", forKey: "k")
    let planted = records(cluster)
    try other.save("newer", forKey: "k")
    let isOver = Atomic<Bool>(false)
    let before = cluster.rows[.header]
    let (rotator, _) = storage(
      cluster,
      fate: {
        if cluster.rows[.header] != before, !isOver.exchange(true, ordering: .relaxed) {
          cluster.tamper(planted)
        }
        return .done
      })
    let report = try rotator.keyAdministration.rotate(openedBy: .key(Self.other))
    let wasPlanted = isOver.load(ordering: .relaxed)
    #expect(wasPlanted)
    #expect(report.setAside == 1)
    let (later, _) = storage(cluster, key: Self.other)
    #expect(code { _ = try later.load(String.self, forKey: "k") } == .damaged)
  }

  // MARK: An engine that went back

  @Test(arguments: [true, false], [true, false])
  func aRestoredSnapshotThatLacksAdditionsIsSeenLater(_ isOwn: Bool, _ isWrite: Bool) throws {
    let cluster = MemoryCluster()
    let (one, place) = storage(cluster)
    let (other, _) = storage(cluster)
    let following = try place.follow { _ in }
    defer { withExtendedLifetime(following) {} }
    try one.save("kept", forKey: "kept")
    try other.save("kept", forKey: "kept 2")
    let snapshot = cluster.snapshot()
    try (isOwn ? one : other).save("added", forKey: "added")
    #expect(try one.load(String.self, forKey: "added") == "added")
    cluster.restore(snapshot)
    // Others go on to write, below other prefixes as well.
    for _ in 0..<5 { cluster.tamper([]) }
    if isOwn, isWrite {
      #expect(code { try one.save("more", forKey: "more") } == .damaged)
    } else {
      #expect(code { try place.repair() } == .damaged)
    }
    #expect(code { _ = try one.load(String.self, forKey: "kept") } == .damaged)
  }

  // MARK: Answers

  @Test func aWriteThatWasMadeAlthoughThereIsNoRoomIsDone() throws {
    let cluster = MemoryCluster()
    let isFull = Atomic<Bool>(false)
    let (one, _) = storage(
      cluster,
      fate: { isFull.exchange(false, ordering: .relaxed) ? .doneAndFull : .done })
    try one.save(1, forKey: "n")
    for value in 2...5 {
      isFull.store(true, ordering: .relaxed)
      try one.update(Int.self, forKey: "n") { $0 = ($0 ?? 0) + 1 }
      #expect(try one.load(Int.self, forKey: "n") == value)
    }
    let (other, _) = storage(cluster)
    #expect(try other.load(Int.self, forKey: "n") == 5)
  }

  @Test func aCallWaitsForAnotherOneNoLongerThanItsDeadline() throws {
    let cluster = MemoryCluster()
    let isHeld = Atomic<Bool>(false)
    let (reached, go) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let (one, place) = storage(
      cluster, { $0.deadline = .milliseconds(200) },
      fate: {
        guard isHeld.exchange(false, ordering: .relaxed) else { return .done }
        reached.signal()
        go.wait()
        return .done
      })
    try one.save(1, forKey: "n")
    isHeld.store(true, ordering: .relaxed)
    let end = DispatchGroup()
    end.enter()
    Thread.detachNewThread {
      try? place.repair()
      end.leave()
    }
    reached.wait()
    // They would wait for ever.
    #expect(code { try place.repair() } == .timedOut)
    #expect(
      code { _ = try one.keyAdministration.rotate(openedBy: .key(Self.other)) } == .timedOut)
    #expect(try one.load(Int.self, forKey: "n") == 1)
    go.signal()
    end.wait()
    try place.repair()
  }

  /// What another machine removes while an answer is on its way stays removed.
  @Test(arguments: ["read", "save", "repair"])
  func aLateAnswerBringsNothingBack(_ call: String) throws {
    let cluster = MemoryCluster()
    let (other, _) = storage(cluster)
    try other.save("1", forKey: "k")
    let isLate = Atomic<Bool>(false)
    var options = RemotePlace.Options()
    options.follows = false
    let place = RemotePlace(
      MemoryEngine(
        cluster,
        beforeAnswer: {
          guard isLate.exchange(false, ordering: .relaxed) else { return }
          // Others write as well, so that the change is not the last one.
          try? other.delete(forKey: "k")
          try? other.save("2", forKey: "k 2")
        }), options)
    let one = DelegatedStorage(place, keySource: .key(TestKey.one))
    let following = try place.follow { _ in }
    defer { withExtendedLifetime(following) {} }
    let name = try #require(try place.names().first)
    try one.save("0", forKey: "k 2")
    isLate.store(true, ordering: .relaxed)
    switch call {
    case "read": _ = try place.lookup(name, .linearizable)
    case "save": try one.save("3", forKey: "k")
    default: try place.repair()
    }
    let wasLate = !isLate.load(ordering: .relaxed)
    #expect(wasLate)
    #expect(try one.load(String.self, forKey: "k") == nil)
    #expect(try one.keys() == ["k 2"])
    #expect(try one.listing().unreadable == 0)
  }

  @Test func aWatchThatIsBehindAListBringsNothingBack() throws {
    let cluster = MemoryCluster(isPrompt: false)
    let (one, place) = storage(cluster)
    let (other, _) = storage(cluster)
    try other.save("1", forKey: "kept")
    let following = try place.follow { _ in }
    defer { withExtendedLifetime(following) {} }
    try other.save("1", forKey: "k")
    try other.delete(forKey: "k")
    try place.repair()
    cluster.deliver { $0.value == nil }
    #expect(try one.keys() == ["kept"])
  }

  /// A property takes no default where no program removed its value.
  @Test(arguments: [true, false], [true, false])
  func aStoreThatSomebodyRemovesTakesNoValueFromAProperty(_ isTold: Bool, _ isHeaderFirst: Bool)
    throws
  {
    let cluster = MemoryCluster()
    let (one, place) = storage(cluster)
    try one.save("a", forKey: "k")
    try one.open(.mustExist)
    let live = Live(wrappedValue: "default", one, "k")
    #expect(live.wrappedValue == "a")
    let following = isTold ? try place.follow { _ in } : nil
    defer { withExtendedLifetime(following) {} }
    let names = records(cluster).map(\.key)
    let rows = isHeaderFirst ? [.header] + names : names + [.header]
    cluster.tamper(rows.map { ($0, nil) })
    if !isTold { #expect(code { try place.repair() } == nil) }
    #expect(code { _ = try one.load(String.self, forKey: "k") } == .unavailable)
    #expect(live.wrappedValue == "a")
  }

  // MARK: Rows that are put back

  @Test(.enabled(if: Soak.isOn))
  func aCounterDoesNotMakeAProgramForgetWhatWasReplacedSoak() throws {
    let cluster = MemoryCluster()
    let (one, place) = storage(cluster)
    try one.save("old", forKey: "password")
    let planted = records(cluster)
    try one.save("new", forKey: "password")
    for number in 0..<66_000 {
      if number.isMultiple(of: 1_000) { cluster.compact() }
      try one.save(number, forKey: "counter")
    }
    cluster.tamper(planted)
    try place.repair()
    #expect(code { _ = try one.load(String.self, forKey: "password") } == .damaged)
  }

  @Test(.enabled(if: Soak.isOn)) func manyNamesAreRememberedAsFarAsThereIsRoomSoak() throws {
    let cluster = MemoryCluster()
    let (one, place) = storage(cluster)
    for round in 0..<2 {
      for start in stride(from: 0, to: 70_000, by: 100) {
        cluster.compact()
        try one.transaction { transaction in
          for number in start..<start + 100 {
            try transaction.save(round, forKey: StoreKey("\(number)"))
          }
        }
      }
    }
    try one.save("old", forKey: "password")
    let all = Dictionary(uniqueKeysWithValues: records(cluster).map { ($0.key, $0.value!) })
    try one.save("new", forKey: "password")
    let now = cluster.rows
    let changed = all.filter { now[$0.key] != $0.value }
    #expect(changed.count == 1)
    cluster.tamper(changed.map { ($0.key, $0.value) })
    try place.repair()
    #expect(code { _ = try one.load(String.self, forKey: "password") } == .damaged)
  }

  @Test(arguments: ["replaced", "removed"])
  func aRowThatWasPutBackHidesNoOther(_ what: String) throws {
    let cluster = MemoryCluster()
    let (one, place) = storage(cluster)
    try one.save("old", forKey: "k")
    let planted = records(cluster)
    if what == "removed" { try one.delete(forKey: "k") } else { try one.save("new", forKey: "k") }
    try one.save("kept", forKey: "kept")
    cluster.tamper(planted)
    try place.repair()
    let error = #expect(throws: StorageError.self) { try one.load(String.self, forKey: "k") }
    #expect(error?.code == .damaged && error?.key == "k")
    #expect(code { try one.update(String.self, forKey: "k") { $0 = "x" } } == .damaged)
    let listing = try one.listing()
    #expect(listing.keys == ["kept"] && listing.unreadable == 1)
    let copy = InMemoryStorage()
    let report = try SecureStorage.migrate(from: one, to: copy, removingFromSource: false)
    #expect(report.copied == 1 && report.unreadable == 1)
    try one.save("again", forKey: "k")
    #expect(try one.load(String.self, forKey: "k") == "again")
  }

  // MARK: A copy of two programs

  /// Two programs with one copy, of which the first has heard of everything and the second has not.
  private func copied(
    _ change: (DelegatedStorage) throws -> Void
  ) throws -> DelegatedStorage {
    let cluster = MemoryCluster(isPrompt: false)
    let copy = InMemoryStorage()
    let (one, first) = storage(cluster, { $0.copy = copy })
    try one.save("1", forKey: "k")
    try first.keep()
    let (other, second) = storage(cluster, { $0.copy = copy })
    #expect(try other.load(String.self, forKey: "k") == "1")
    try one.save("2", forKey: "k")
    try first.repair()  // its moment is later than the other's
    try second.repair()
    cluster.tamper([])
    try first.repair()
    try change(other)
    try second.keep()
    try first.keep()
    try second.repair()
    try second.keep()
    let (started, _) = storage(cluster, { $0.copy = copy }, fate: { .refused })
    return started
  }

  @Test(arguments: ["3", nil])
  func anOlderCommitOfOneReplacesNoLaterOneOfTheOther(_ value: String?) throws {
    let started = try copied { try $0.save(value, forKey: "k") }
    #expect(try started.load(String.self, forKey: "k") == value)
    #expect(try started.keys().count == (value == nil ? 0 : 1))
  }

  @Test func theCopyRemembersWhatEitherHasSeenReplaced() throws {
    let cluster = MemoryCluster()
    let copy = InMemoryStorage()
    let (one, first) = storage(cluster, { $0.copy = copy })
    try one.save("1", forKey: "k")
    try first.keep()
    let (_, second) = storage(cluster, { $0.copy = copy })
    try second.repair()
    try one.save("2", forKey: "k")
    let planted = records(cluster)
    try one.save("3", forKey: "k")
    try first.keep()
    // It has seen 1 and 3.
    try second.repair()
    try second.keep()
    cluster.tamper(planted)
    let (started, _) = storage(cluster, { $0.copy = copy })
    #expect(code { _ = try started.load(String.self, forKey: "k") } == .damaged)
  }
}
