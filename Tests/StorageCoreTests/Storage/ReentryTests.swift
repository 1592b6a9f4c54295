import CryptoCore
import SingletonBackend
import Testing

@testable import StorageCore

/// Calls that a program makes from inside a call which they would break.
@Suite struct ReentryTests {
  private let delegate = SingletonStorageDelegate()
  private let key = SymmetricKey(size: .bits256)

  private func storage() -> DelegatedStorage {
    DelegatedStorage(delegate, keySource: .key(key)) { _ in }
  }

  /// What `body` throws, and how often the outer body ran.
  private func refusal(_ body: (inout Int) throws -> Void) throws -> (StorageError, Int) {
    var runs = 0
    let error = #expect(throws: StorageError.self) { try body(&runs) }
    return (try #require(error), runs)
  }

  @Test func anUpdateInsideAnUpdateOfTheSameValueIsRefusedAtOnce() throws {
    let storage = storage()
    try storage.save(1, forKey: "count")
    // Another storage of the same place counts as well.
    for inner in [storage, self.storage()] {
      let (error, runs) = try refusal { runs in
        try storage.update(Int.self, forKey: "count") { value in
          runs += 1
          try inner.update(Int.self, forKey: "count") { $0? += 1 }
          value? += 1
        }
      }
      #expect(error.code == .invalid && runs == 1)
      #expect(
        error.message.contains("update of \"count\" was called inside the update of \"count\""))
      #expect(try storage.load(Int.self, forKey: "count") == 1)
    }
  }

  @Test(arguments: ["save", "delete", "removeAll", "transaction", "saveAll"])
  func everyWriteOfTheValueInsideItsUpdateIsRefused(_ call: String) throws {
    let storage = storage()
    try storage.save(1, forKey: "count")
    let (error, runs) = try refusal { runs in
      try storage.update(Int.self, forKey: "count") { value in
        runs += 1
        switch call {
        case "save": try storage.save(5, forKey: "count")
        case "delete": try storage.delete(forKey: "count")
        case "removeAll": try storage.removeAll()
        case "saveAll": try storage.saveAll(["count": 5])
        default: try storage.transaction { try $0.save(5, forKey: "count") }
        }
        value? += 1
      }
    }
    #expect(error.code == .invalid && runs == 1)
    #expect(try storage.load(Int.self, forKey: "count") == 1)
  }

  @Test func aWriteToAValueThatATransactionHasReadIsRefused() throws {
    let storage = storage()
    try storage.save(1, forKey: "a")
    let (error, runs) = try refusal { runs in
      try storage.transaction { transaction in
        runs += 1
        let value = try transaction.load(Int.self, forKey: "a") ?? 0
        try storage.save(value + 1, forKey: "a")
      }
    }
    #expect(error.code == .invalid && runs == 1)
    #expect(try storage.load(Int.self, forKey: "a") == 1)
  }

  @Test func otherValuesCanBeReadAndWrittenInsideAnUpdate() throws {
    let storage = storage()
    try storage.save(1, forKey: "count")
    try storage.update(Int.self, forKey: "count") { value in
      #expect(try storage.load(Int.self, forKey: "count") == 1)
      try storage.save("seen", forKey: "log")
      try storage.update(Int.self, forKey: "other") { $0 = 7 }
      value? += 1
    }
    #expect(try storage.load(Int.self, forKey: "count") == 2)
    #expect(try storage.load(Int.self, forKey: "other") == 7)
  }

  @Test func anotherPlaceWithTheSameKeyIsNoReentry() throws {
    let (storage, other) = (
      storage(),
      DelegatedStorage(
        SingletonStorageDelegate(), keySource: .key(key))
    )
    try storage.update(Int.self, forKey: "count") { value in
      try other.update(Int.self, forKey: "count") { $0 = 1 }
      value = 2
    }
    #expect(try storage.load(Int.self, forKey: "count") == 2)
    #expect(try other.load(Int.self, forKey: "count") == 1)
  }

  @Test func aWriteAfterTheUpdateHasFailedIsNoReentry() throws {
    struct Stop: Error {}
    let storage = storage()
    #expect(throws: Stop.self) {
      try storage.update(Int.self, forKey: "count") { _ in throw Stop() }
    }
    try storage.save(3, forKey: "count")
    #expect(try storage.load(Int.self, forKey: "count") == 3)
  }

  @Test func aKeyProviderThatUsesItsOwnStoreIsRefusedAndDoesNotHang() throws {
    for isSameObject in [true, false] {
      let provider = Introspective()
      let make: @Sendable () -> DelegatedStorage = { [delegate] in
        DelegatedStorage(delegate, keySource: .provider(provider)) { _ in }
      }
      let storage = make()
      provider.read.withLock { $0 = { isSameObject ? storage : make() } }
      let error = #expect(throws: StorageError.self) { try storage.save(1, forKey: "a") }
      #expect(error?.code == .invalid)
      #expect(error?.message.contains("the key source uses the store that it opens") == true)
      provider.read.withLock { $0 = nil }
    }
  }
}

/// A key provider that reads a storage before it gives a key.
private final class Introspective: KeyProvider {
  let identifier = "introspective"
  let read = Lock<(@Sendable () -> DelegatedStorage)?>(nil)
  private let key = SymmetricKey(size: .bits256)

  func material() throws(StorageError) -> KeyMaterial? {
    if let storage = read.withLock({ $0 })?() {
      _ = try storage.load(Int.self, forKey: "a")
    }
    return .key(key)
  }
}
