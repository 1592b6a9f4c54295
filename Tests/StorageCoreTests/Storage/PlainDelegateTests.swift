import CryptoCore
import Foundation
import StorageCore
import Testing

/// A delegate that holds no header: the keys follow from the application's own.
@Suite struct PlainDelegateTests {
  private let delegate = PlainDelegate()

  /// The codes of every call that throws.
  private func codesOfEveryCall(_ storage: DelegatedStorage) -> [StorageError.Code?] {
    [
      code { _ = try storage.load(Int.self, forKey: "k") },
      code { try storage.save(1, forKey: "k") },
      code { try storage.saveIfAbsent(1, forKey: "k") },
      code { try storage.delete(forKey: "k") },
      code { try storage.update(Int.self, forKey: "k") { $0 = 1 } },
      code { _ = try storage.contains("k") },
      code { try storage.open() },
    ]
  }

  @Test func valuesOfAKeyComeBackThroughAnotherStorage() throws {
    let key = SymmetricKey.fresh
    try DelegatedStorage(delegate, symmetricKey: key).save("kept", forKey: "k")
    let storage = DelegatedStorage(delegate, symmetricKey: key)
    #expect(try storage.load(forKey: "k") == "kept")
    #expect(try storage.saveIfAbsent("new", forKey: "k") == false)
    #expect(try storage.saveIfAbsent("new", forKey: "other"))
    try storage.delete(forKey: "k")
    #expect(try storage.contains("k") == false)
    #expect(delegate.records.count == 1)
  }

  @Test func withoutAKeyEveryCallFailsAndNothingIsWritten() {
    let storage = DelegatedStorage(delegate, errorClosure: { _ in })
    for code in codesOfEveryCall(storage) { #expect(code == .keyUnavailable) }
    storage.set("x", forKey: "k")
    storage.set(encodable: "x", forKey: "k")
    storage.register(defaults: ["k": "x"])
    Store<String, DelegatedStorage>(wrappedValue: "x", storage, "k").wrappedValue = "y"
    #expect(delegate.records.isEmpty)
  }

  @Test func withoutADelegateEveryCallFails() {
    let storage = DelegatedStorage(symmetricKey: .fresh)
    for code in codesOfEveryCall(storage).dropLast() { #expect(code == .unavailable) }
    for code in codesOfEveryCall(DelegatedStorage()) { #expect(code == .keyUnavailable) }
  }

  @Test func anotherKeySeesNothing() throws {
    try DelegatedStorage(delegate, symmetricKey: .repeating(1)).save(1, forKey: "k")
    let other = DelegatedStorage(delegate, symmetricKey: .repeating(2))
    #expect(try other.load(Int.self, forKey: "k") == nil, "the name hashes otherwise")
    let (name, record) = try #require(delegate.records.first)
    try other.save(2, forKey: "k")
    let theirs = try #require(delegate.records.keys.first { $0 != name })
    delegate.records[theirs] = record
    #expect(code { _ = try other.load(Int.self, forKey: "k") } == .damaged)
  }

  @Test func onlyAKeyIsTakenNotAPassphrase() {
    for source in [KeySource.passphrase("x", derivation: .quick), .passphrase("y")] {
      let storage = DelegatedStorage.quiet(delegate, source)
      #expect(code { try storage.save(1, forKey: "k") } == .unsupported)
    }
    #expect(delegate.records.isEmpty)
  }

  @Test func anUpdateIsUnsupportedWhereThePlaceCantCompare() throws {
    let storage = DelegatedStorage(delegate, symmetricKey: .fresh)
    try storage.save(1, forKey: "k")
    let before = delegate.records
    #expect(code { try storage.update(Int.self, forKey: "k") { $0 = 2 } } == .unsupported)
    #expect(code { try storage.update(Int.self, forKey: "k") { $0 = nil } } == .unsupported)
    #expect(delegate.records == before)
    // What needs no comparison but "is there one" works.
    try storage.update(Int.self, forKey: "new") { $0 = 3 }
    #expect(try storage.load(forKey: "new") == 3)
  }

  @Test func listingIsUnsupportedWhereThePlaceCantList() throws {
    let storage = DelegatedStorage(delegate, symmetricKey: .fresh)
    try storage.save(1, forKey: "k")
    #expect(code { _ = try storage.keys() } == .unsupported)
    #expect(code { _ = try storage.listing() } == .unsupported)
    #expect(code { try storage.removeAll() } == .unsupported)
    #expect(delegate.records.count == 1)
  }

  @Test func recordsAreSealedWithoutALimitOfSeals() throws {
    try DelegatedStorage(delegate, symmetricKey: .fresh).save(1, forKey: "k")
    let record = try #require(delegate.records.values.first)
    #expect(record[1] == AEADAlgorithm.xaes256GCM.rawValue)
  }
}
