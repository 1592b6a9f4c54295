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

  @Test func aTransactionAndSavingAllInsideAnUpdateAreRefused() throws {
    let storage = storage()
    try storage.save(1, forKey: "count")
    let writes: [() throws -> Void] = [
      { try storage.saveAll(["count": 5]) },
      { try storage.transaction { try $0.save(5, forKey: "count") } },
    ]
    for write in writes {
      let (error, runs) = try refusal { runs in
        try storage.update(Int.self, forKey: "count") { value in
          runs += 1
          try write()
          value? += 1
        }
      }
      #expect(error.code == .invalid && runs == 1)
      #expect(error.message.contains("inside the update of \"count\""))
      #expect(try storage.load(Int.self, forKey: "count") == 1)
    }
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
}
