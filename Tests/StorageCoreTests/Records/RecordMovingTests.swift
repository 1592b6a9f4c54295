import CryptoCore
import Foundation
import StorageCore
import Testing

@Suite struct RecordMovingTests {
  @Test func recordsSwappedBetweenTwoKeysAreRefused() throws {
    let delegate = OpenDelegate()
    let storage = DelegatedStorage.quiet(delegate, .key(.fresh))
    try storage.save("value of a", forKey: "a")
    let (nameOfA, recordOfA) = try delegate.onlyRecord()
    try storage.save("value of b", forKey: "b")
    let (nameOfB, recordOfB) = try #require(try delegate.records().first { $0.key != nameOfA })

    try delegate.replace(nameOfA, with: recordOfB)
    try delegate.replace(nameOfB, with: recordOfA)
    #expect(code { _ = try storage.load(String.self, forKey: "a") } == .damaged)
    #expect(code { _ = try storage.load(String.self, forKey: "b") } == .damaged)

    try delegate.replace(nameOfA, with: recordOfA)
    #expect(try storage.load(forKey: "a") == "value of a")
  }

  @Test func aRecordOfAnotherStoreIsRefusedEvenUnderTheSameKey() throws {
    let key = SymmetricKey.fresh
    let (one, other) = (OpenDelegate(), OpenDelegate())
    let (first, second) = (
      DelegatedStorage.quiet(one, .key(key)), DelegatedStorage.quiet(other, .key(key))
    )
    try first.save("of the first", forKey: "k")
    try second.save("of the second", forKey: "k")
    let (name, record) = try one.onlyRecord()
    let (otherName, _) = try other.onlyRecord()
    #expect(name != otherName, "the same name hashes otherwise in another store")

    try other.replace(otherName, with: record)
    #expect(code { _ = try second.load(String.self, forKey: "k") } == .damaged)
    // Under its own name it is as if it were not there.
    try other.replace(otherName, with: nil)
    try other.replace(name, with: record)
    #expect(try second.load(String.self, forKey: "k") == nil)
  }

  @Test func aRecordMovedWithItsHeaderNeedsTheKeyOfItsStore() throws {
    let (one, other) = (OpenDelegate(), OpenDelegate())
    let first = DelegatedStorage.quiet(one, .key(.repeating(1)))
    try first.save("of the first", forKey: "k")
    try other.replaceHeader(with: try one.headerBytes())
    for (name, record) in try one.records() { try other.replace(name, with: record) }

    let thief = DelegatedStorage.quiet(other, .key(.repeating(2)))
    #expect(code { _ = try thief.load(String.self, forKey: "k") } == .wrongKey)
    let owner = DelegatedStorage.quiet(other, .key(.repeating(1)))
    #expect(try owner.load(forKey: "k") == "of the first")
  }

  @Test(arguments: [nil, "", "other", "tag2", "ta", "TAG"] as [String?])
  func aRecordOfAnotherAuthenticationTagIsRefused(_ tag: String?) throws {
    let delegate = OpenDelegate()
    let key = SymmetricKey.fresh
    let owner = DelegatedStorage.quiet(delegate, .key(key), tag: "tag")
    try owner.save("value", forKey: "k")
    let other = DelegatedStorage.quiet(delegate, .key(key), tag: tag)
    #expect(code { _ = try other.load(String.self, forKey: "k") } == .damaged)
    #expect(code { _ = try other.keys() } == .damaged)
    #expect(try owner.load(forKey: "k") == "value")
  }

  @Test func anEmptyAuthenticationTagIsNone() throws {
    let delegate = OpenDelegate()
    let key = SymmetricKey.fresh
    try DelegatedStorage.quiet(delegate, .key(key), tag: "").save(1, forKey: "k")
    #expect(try DelegatedStorage.quiet(delegate, .key(key)).load(forKey: "k") == 1)
  }

  @Test func neitherNameNorValueNorKeyIsInWhatTheDelegateGets() throws {
    let delegate = OpenDelegate()
    let storage = DelegatedStorage.quiet(
      delegate, .passphrase("open sesame marker", derivation: .quick), tag: "tag marker")
    try storage.save("value marker", forKey: "name marker")
    var bytes = try delegate.headerBytes()
    for (name, record) in try delegate.records() { bytes += name.bytes + record }
    let kept = Data(bytes)
    for marker in ["value marker", "name marker", "open sesame", "tag marker"] {
      #expect(kept.range(of: Data(marker.utf8)) == nil, "\(marker)")
    }
  }

  @Test func sealingTheSameValueTwiceGivesDifferentRecords() throws {
    let delegate = OpenDelegate()
    let storage = DelegatedStorage.quiet(delegate, .key(.fresh))
    var seen: Set<[UInt8]> = []
    for _ in 0..<100 {
      try storage.save("same", forKey: "k")
      seen.insert(try delegate.onlyRecord().record)
    }
    #expect(seen.count == 100)
  }
}
