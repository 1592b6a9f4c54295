import CryptoCore
import Foundation
import Observation
import SingletonBackend
import StorageCore
import StorageTesting
import Testing

/// What a live property is to the program that has it.
struct LivePropertyTests {
  enum Setting: String { case theme, token }
  private let storage = SingletonStorage()

  @Test func aPropertyIsItsDefaultUntilAValueIsStored() throws {
    @Live(storage, "theme") var theme = "dark"
    #expect(theme == "dark")
    #expect($theme.state == .absent)
    #expect(try storage.contains("theme") == false)
    theme = "light"
    #expect(theme == "light")
    #expect($theme.state == .value("light"))
    #expect(try storage.load(String.self, forKey: "theme") == "light")
  }

  @Test func anInitialValueIsStoredIfThereIsNone() throws {
    @Live(storage, "first") var first: Int? = 1
    #expect(first == 1)
    #expect(try storage.load(Int.self, forKey: "first") == 1)
    @Live(storage, "first") var second: Int? = 2
    #expect(second == 1)
    // An optional type is never stored as one.
    @Live(storage, "none") var none: Int? = nil
    #expect($none.state == .absent)
    none = 3
    #expect(try storage.load(Int.self, forKey: "none") == 3)
  }

  @Test func aKeyMayBeACaseOfAnEnumeration() throws {
    @Live(storage, Setting.theme) var theme = "dark"
    @Live(storage, Setting.token) var token: String?
    (theme, token) = ("light", "secret")
    #expect(try storage.load(String.self, forKey: "theme") == "light")
    #expect(try storage.load(String.self, forKey: "token") == "secret")
  }

  @Test func theCallsOfAPropertyThrow() throws {
    @Live(storage, "count") var count = 0
    try $count.save(3)
    #expect(try $count.load() == 3)
    #expect(
      try $count.update {
        $0 += 1
        return $0
      } == 4)
    #expect(count == 4)
    try $count.remove()
    #expect(count == 0)
    #expect($count.key == "count")
    #expect($count.storage === storage)
    #expect("\($count)" == "Live(\"count\")")
  }

  @Test func aReadSeesWhatTheThreadHasWrittenInAnyWay() throws {
    @Live(storage, "key") var live = 0
    @UnwrappedStore(storage, "key") var other = 0
    for value in 1...200 {
      switch value % 5 {
      case 0: try storage.save(value, forKey: "key")
      case 1: other = value
      case 2: try storage.transaction { try $0.save(value, forKey: "key") }
      case 3: try storage.update(Int.self, forKey: "key") { $0 = value }
      default: live = value
      }
      #expect(live == value)
    }
    try storage.delete(forKey: "key")
    #expect(live == 0)
    #expect($live.state == .absent)
    try storage.save(1, forKey: "key")
    try storage.removeAll()
    #expect($live.state == .absent)
  }

  // MARK: - One object

  @Test func propertiesOfAKeyAndTypeShareAnObject() throws {
    let first = Live<String?, SingletonStorage>(storage, "key")
    let second = Live(wrappedValue: "default", storage, "key")
    let other = Live<Int?, SingletonStorage>(storage, "key")
    let elsewhere = Live<String?, SingletonStorage>(storage, "another")
    #expect(first.live === second.live)
    #expect(first.live as AnyObject !== other.live as AnyObject)
    #expect(first.live !== elsewhere.live)
    first.wrappedValue = "x"
    #expect(first.live.value == "x")
    #expect(first.live.state == .value("x"))
  }

  /// Where the delegate tells nobody of anything, all of its storages tell each other.
  @Test func storagesOverAPlainDelegateTellEachOther() async throws {
    let delegate = PlainDelegate()
    let key = SymmetricKey(size: .bits256)
    let writer = DelegatedStorage(delegate, symmetricKey: key)
    let reader = DelegatedStorage(delegate, symmetricKey: key)
    @Live(reader, "key") var live = 0
    var values = Store<Int, DelegatedStorage>(reader, "key").projectedValue.values
      .makeAsyncIterator()
    #expect(live == 0)
    #expect(await values.next() == .some(nil))
    try writer.save(1, forKey: "key")
    #expect(live == 1)
    #expect(await values.next() == .some(1))
    @Live(writer, "key") var other = 0
    other = 2
    #expect(live == 2)
    #expect($live.live === $other.live)
  }

  @Test func theLastOneEndsTheObservation() throws {
    let delegate = CountingDelegate()
    let storage = DelegatedStorage(delegate, keySource: .key(SymmetricKey(size: .bits256)))
    weak var object: LiveValue<Int?>?
    do {
      @Live(storage, "key") var first: Int?
      @Live(storage, "other") var second: Int?
      #expect(delegate.observers == 0)
      #expect(first == nil)
      #expect(second == nil)
      #expect(delegate.observers == 1)
      object = $first.live
      #expect(object != nil)
      let copy = $first
      #expect(copy.live === object)
    }
    #expect(object == nil)
    #expect(delegate.observers == 0)
    @Live(storage, "key") var again = 0
    #expect(again == 0)
    #expect(delegate.observers == 1)
    try storage.save(1, forKey: "key")
    #expect(again == 1)
  }

  /// One that is released while another is made leaves its successor what it has.
  @Test func aReleasedValueTakesNothingFromItsSuccessor() throws {
    let storage = storage
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for round in 0..<500 {
        let live = Live(wrappedValue: 0, storage, "shared")
        _ = live.wrappedValue
        let own = Live(wrappedValue: 0, storage, "own \(thread)")
        own.wrappedValue = round + 1
        #expect(own.wrappedValue == round + 1)
        storage.set(thread, forKey: "shared")
      }
    }
    @Live(storage, "shared") var live = 0
    _ = live
    try storage.save(42, forKey: "shared")
    #expect(live == 42)
  }
}

extension PropertyState {
  /// Why it could not be read, if that is so.
  var error: StorageError? {
    if case .failed(let error) = self { error } else { nil }
  }
}

/// A delegate in memory that counts its observers.
private final class CountingDelegate: ForwardingPlace {
  let base: any RecordPlace = SingletonStorageDelegate()
  private let count = Lock(0)

  var observers: Int { count.withLock { $0 } }

  func observe(_ observer: @escaping @Sendable (RecordChange) -> Void) -> ChangeObservation {
    count.withLock { $0 += 1 }
    let observation = base.observe(observer)
    return ChangeObservation { [self] in
      withExtendedLifetime(observation) {}
      count.withLock { $0 -= 1 }
    }
  }
}
