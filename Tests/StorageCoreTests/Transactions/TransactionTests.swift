import CryptoCore
import Foundation
import SingletonBackend
import StorageCore
import StorageTesting
import Testing

@Suite struct TransactionTests {
  private struct OwnError: Error, Equatable { let number: Int }
  private struct User: Codable, Equatable { var name: String }

  private let delegate = OpenDelegate()
  private let storage: DelegatedStorage

  init() { storage = .quiet(delegate, .key(.fresh)) }

  // MARK: - All or nothing

  @Test func allWritesAreOneCommit() throws {
    try storage.save(1, forKey: "gone")
    let before = delegate.commits
    try storage.transaction { transaction in
      for index in 0..<20 { try transaction.save(index, forKey: "k\(index)") }
      try transaction.delete(forKey: "gone")
      #expect(try storage.keys() == ["gone"])
    }
    #expect(delegate.commits == before + 1)
    #expect(try storage.keys().count == 20)
    #expect(try storage.load(forKey: "k7") == 7)
  }

  @Test func aBodyThatThrowsWritesNothingAndItsErrorComesThroughAsItIs() throws {
    try storage.save("old", forKey: "k")
    let error = #expect(throws: OwnError.self) {
      try storage.transaction { transaction in
        #expect(try transaction.load(String.self, forKey: "k") == "old")
        try transaction.save("new", forKey: "k")
        try transaction.save(1, forKey: "other")
        throw OwnError(number: 7)
      }
    }
    #expect(error == OwnError(number: 7))
    #expect(try storage.load(forKey: "k") == "old")
    #expect(try storage.keys() == ["k"])
  }

  @Test func aBodyThatThrowsMakesNoStore() {
    #expect(throws: OwnError.self) {
      try storage.transaction { transaction in
        try transaction.save(1, forKey: "k")
        throw OwnError(number: 1)
      }
    }
    #expect(delegate.headerChanges == 0 && delegate.commits == 0)
  }

  @Test func readingAndRemovingInANewStoreMakesNoStore() throws {
    try storage.transaction { transaction in
      #expect(try transaction.load(Int.self, forKey: "a") == nil)
      #expect(try transaction.contains("b") == false)
      try transaction.delete(forKey: "c")
    }
    #expect(delegate.headerChanges == 0 && delegate.commits == 0)
  }

  @Test(arguments: [StorageError.Code.full, .readOnly, .busy, .locked, .io, .outcomeUnknown])
  func aCommitThatFailsLeavesAllValues(_ reason: StorageError.Code) throws {
    let storage = FaultyStorage(errorClosure: { _ in })
    try storage.save("old", forKey: "k")
    storage.faults.fail(.writes, with: .failure(StorageError(reason, "on cue")))
    let failure = code {
      try storage.transaction { transaction in
        try transaction.save("new", forKey: "k")
        try transaction.save("new", forKey: "l")
      }
    }
    #expect(failure == reason)
    storage.faults.recover()
    #expect(try storage.load(forKey: "k") == "old")
    #expect(try storage.keys() == ["k"])
  }

  @Test func aReadThatFailsEndsTheTransactionAndNamesTheKey() throws {
    let storage = FaultyStorage(errorClosure: { _ in })
    try storage.save("old", forKey: "k")
    storage.faults.fail(.reads, with: .corruption)
    let failure = error {
      try storage.transaction { transaction in
        try transaction.save("new", forKey: "l")
        _ = try transaction.load(String.self, forKey: "k")
      }
    }
    #expect(failure?.code == .damaged && failure?.key == "k")
    storage.faults.recover()
    #expect(try storage.keys() == ["k"])
  }

  @Test func aValueOfAnotherTypeIsAMismatchAndStays() throws {
    try storage.save("text", forKey: "k")
    let failure = error {
      try storage.transaction { try $0.update(Int.self, forKey: "k") { $0 = 1 } }
    }
    #expect(failure?.code == .typeMismatch && failure?.key == "k")
    #expect(try storage.load(forKey: "k") == "text")
  }

  /// Every call about a key.
  private static func calls(_ key: String) -> [(StorageTransaction) throws -> Void] {
    [
      { _ = try $0.load(Int.self, forKey: key) },
      { _ = try $0.load(decodable: Int.self, forKey: key) }, { try $0.save(2, forKey: key) },
      { try $0.save(encodable: 2, forKey: key) }, { try $0.saveIfAbsent(2, forKey: key) },
      { try $0.update(Int.self, forKey: key) { $0 = 2 } }, { try $0.delete(forKey: key) },
      { _ = try $0.contains(key) },
    ]
  }

  @Test(arguments: ["", String(repeating: "k", count: 1025)])
  func aKeyThatCantBeIsRefusedByEveryCall(_ key: String) throws {
    for call in Self.calls(key) {
      #expect(code { try storage.transaction { try call($0) } } == .invalid)
    }
    #expect(delegate.commits == 0)
  }

  @Test func aPlaceThatCantCompareHasNoTransactions() {
    let storage = DelegatedStorage.quiet(PlainDelegate(), .key(.fresh))
    var runs = 0
    #expect(code { try storage.transaction { _ in runs += 1 } } == .unsupported)
    #expect(runs == 0)
  }

  // MARK: - Inside

  @Test func laterReadsFindWhatTheTransactionWrote() throws {
    try storage.save(1, forKey: "a")
    try storage.save(1, forKey: "b")
    try storage.transaction { transaction in
      try transaction.save(2, forKey: "a")
      #expect(try transaction.load(forKey: "a") == 2)
      try transaction.update(Int.self, forKey: "a") { $0 = ($0 ?? 0) + 40 }
      #expect(try transaction.load(forKey: "a") == 42)
      try transaction.delete(forKey: "b")
      #expect(try transaction.load(Int.self, forKey: "b") == nil)
      #expect(try transaction.contains("b") == false)
      #expect(try transaction.saveIfAbsent(3, forKey: "b"))
      #expect(try transaction.saveIfAbsent(4, forKey: "b") == false)
      try transaction.save(String?.none, forKey: "c")
      #expect(try transaction.contains("c") == false)
      try transaction.save(encodable: ["x"], forKey: "d")
      #expect(try transaction.load(decodable: [String].self, forKey: "d") == ["x"])
      try transaction.save(User(name: "u"), forKey: "e")
      #expect(try transaction.load(User.self, forKey: "e") == User(name: "u"))
    }
    #expect(try storage.load(forKey: "a") == 42)
    #expect(try storage.load(forKey: "b") == 3)
    #expect(try storage.load(decodable: [String].self, forKey: "d") == ["x"])
    #expect(try storage.load(User.self, forKey: "e") == User(name: "u"))
    #expect(try storage.keys().sorted() == ["a", "b", "d", "e"])
  }

  @Test func namesThatDifferInNormalisationAreTwo() throws {
    try storage.transaction { transaction in
      try transaction.save(1, forKey: "\u{e9}")
      try transaction.save(2, forKey: "e\u{301}")
      #expect(try transaction.load(forKey: "\u{e9}") == 1)
    }
    #expect(try storage.keys().count == 2)
  }

  @Test func callsOnTheStorageItselfAreOutside() throws {
    try storage.transaction { transaction in
      try transaction.save("inside", forKey: "k")
      #expect(try storage.contains("k") == false)
      try storage.save("outside", forKey: "k")
      #expect(try transaction.load(forKey: "k") == "inside")
    }
    #expect(try storage.load(forKey: "k") == "inside")
    #expect(throws: OwnError.self) {
      try storage.transaction { _ in
        try storage.transaction { try $0.save("a transaction of its own", forKey: "k") }
        throw OwnError(number: 1)
      }
    }
    #expect(try storage.load(forKey: "k") == "a transaction of its own")
  }

  @Test func aTransactionThatIsOverRefusesEveryCall() throws {
    var kept: [StorageTransaction] = []
    try storage.transaction { transaction in
      kept.append(transaction)
      try transaction.save(1, forKey: "k")
    }
    _ = try? storage.transaction { transaction in
      kept.append(transaction)
      throw OwnError(number: 1)
    }
    for transaction in kept {
      for call in Self.calls("k") {
        let failure = error { try call(transaction) }
        #expect(failure?.code == .invalid && failure?.key == "k")
      }
    }
    #expect(kept.count == 2)
    #expect(try storage.load(forKey: "k") == 1)
  }
}
