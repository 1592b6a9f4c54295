import CryptoCore
import Foundation
import Observation
import SingletonBackend
import StorageCore
import StorageTesting
import Testing

/// Who is told of what a live property becomes.
struct LiveObservationTests {
  private let storage = SingletonStorage()

  /// How often a tracked read of a value is told of a change.
  private final class Observer: Sendable {
    private let count = Lock(0)
    var changes: Int { count.withLock { $0 } }

    /// Waits for that, since another thread may be the one that tells.
    func comesTo(_ expected: Int) -> Bool {
      for _ in 0..<10_000 where changes < expected { usleep(1_000) }
      return changes == expected
    }

    func track(_ read: () -> Void) {
      withObservationTracking(read) { self.count.withLock { $0 += 1 } }
    }
  }

  @Test func aChangeIsToldWhoeverMadeIt() throws {
    @Live(storage, "key") var live = 0
    @UnwrappedStore(storage, "key") var store = 0
    let writes: [() throws -> Void] = [
      { live = 1 }, { store = 2 }, { try storage.save(3, forKey: "key") },
      { try storage.transaction { try $0.save(4, forKey: "key") } },
      { try $live.update { $0 += 1 } }, { try $live.remove() },
    ]
    for (index, write) in writes.enumerated() {
      let observer = Observer()
      observer.track { _ = live }
      try write()
      // Whoever reads next brings the value up to date.
      #expect(live == (index + 1) % writes.count)
      #expect(observer.comesTo(1))
    }
  }

  @Test func whoReadsStateOrLoadsIsToldAsWell() throws {
    @Live(storage, "key") var live = 0
    let (first, second, third) = (Observer(), Observer(), Observer())
    first.track { _ = $live.state }
    second.track { _ = try? $live.load() }
    third.track { _ = $live.live.value }
    live = 1
    for observer in [first, second, third] { #expect(observer.comesTo(1)) }
  }

  @Test func anEqualValueIsNotTold() throws {
    @Live(storage, "key") var live = 1
    live = 5
    let observer = Observer()
    observer.track { _ = live }
    live = 5
    try storage.save(5, forKey: "key")
    #expect(live == 5)
    #expect(observer.changes == 0)
    live = 6
    #expect(observer.comesTo(1))
  }

  /// What a program takes for equal need not be the same.
  private struct User: Codable, Equatable, Sendable {
    var id: Int
    var name: String
    static func == (one: User, other: User) -> Bool { one.id == other.id }
  }

  @Test func anEqualValueIsInMemoryAsItWasStored() throws {
    @Live(storage, "user") var user: User?
    user = User(id: 1, name: "old")
    #expect(user?.name == "old")
    let observer = Observer()
    observer.track { _ = user }
    try $user.save(User(id: 1, name: "new"))
    #expect(user?.name == "new")
    try $user.update { $0?.name += "!" }
    #expect(user?.name == "new!")
    user?.name += "?"
    #expect(user?.name == "new!?")
    #expect(try storage.load(decodable: User.self, forKey: "user")?.name == "new!?")
    #expect(observer.changes == 0)
    user = User(id: 2, name: "other")
    #expect(observer.comesTo(1))
  }

  /// Who reads, and is registered only after the last change, is told once more.
  @Test(arguments: [1, 2, 17])
  func anObserverThatRegistersAfterTheChangeIsTold(_ changes: Int) throws {
    try storage.save(1, forKey: "key")
    let live = Live(wrappedValue: 0, storage, "key")
    let (observer, ofNow) = (Observer(), Observer())
    observer.track {
      _ = live.wrappedValue
      for value in 2...changes + 1 { live.wrappedValue = value }
      if changes == 1 { ofNow.track { _ = live.wrappedValue } }
    }
    #expect(observer.comesTo(1))
    // Who has read the last value has nothing to be told of.
    #expect(ofNow.changes == 0)
  }

  /// `onChange` may use any storage: nothing is held while it runs.
  @Test func onChangeMayWriteAndRead() async throws {
    let storage = storage
    let live = Live(wrappedValue: 0, storage, "key")
    let seen = Lock<[Int]>([])
    withObservationTracking {
      _ = live.wrappedValue
    } onChange: {
      storage.set(7, forKey: "other")
      live.wrappedValue = 9
      seen.withLock { $0.append(live.wrappedValue) }
    }
    try storage.save(1, forKey: "key")
    _ = live.wrappedValue
    // On another thread, where the hub's was first.
    while seen.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(1)) }
    #expect(seen.withLock { $0 } == [9])
    #expect(try storage.load(Int.self, forKey: "other") == 7)
    #expect(live.wrappedValue == 9)
  }

  @Test func observationsComeToTheLastValue() async throws {
    let storage = storage
    let live = Live(wrappedValue: 0, storage, "key")
    for round in 1...20 {
      let last = round * 1000
      let writing = Task.detached {
        for value in last - 100...last { try storage.save(value, forKey: "key") }
      }
      for await value in Observations({ live.wrappedValue }) where value == last { break }
      try await writing.value
    }
  }
}
