import CryptoCore
import StorageCore
import Testing

@Suite struct KeyNameTests {
  private let storage = DelegatedStorage.fresh()

  private func codesOfEveryCall(_ key: String) -> Set<StorageError.Code?> {
    [
      code { _ = try storage.load(Int.self, forKey: key) },
      code { try storage.save(1, forKey: key) },
      code { try storage.saveIfAbsent(1, forKey: key) },
      code { try storage.delete(forKey: key) },
      code { try storage.update(Int.self, forKey: key) { $0 = 1 } },
      code { _ = try storage.contains(key) },
    ]
  }

  @Test(arguments: [0, 1025, 1 << 20])
  func aNameOfNoOrTooManyBytesIsInvalid(_ count: Int) throws {
    try storage.save(1, forKey: "k")
    #expect(codesOfEveryCall(String(repeating: "x", count: count)) == [.invalid])
    #expect(try storage.keys() == ["k"])
  }

  @Test func theLimitIsInBytesAndNotInCharacters() throws {
    try storage.save(1, forKey: String(repeating: "\u{E9}", count: 512))
    #expect(codesOfEveryCall(String(repeating: "\u{E9}", count: 513)) == [.invalid])
  }

  @Test func everyOtherNameWorksAndIsListed() throws {
    let names = [
      "a", " ", "\n", "\u{0}", "a\u{0}b", "a\u{0}c", "../../etc/passwd", "%s%n", "\u{1F511}",
      "\u{202E}rtl", "'; DROP TABLE", String(repeating: "x", count: 1024), "A", "a ",
    ]
    for (index, name) in names.enumerated() { try storage.save(index, forKey: name) }
    for (index, name) in names.enumerated() { #expect(try storage.load(forKey: name) == index) }
    #expect(try storage.keys().sorted() == names.sorted())
  }

  @Test func namesThatDifferOnlyInNormalisationAreTwoNames() throws {
    let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
    try #require(composed == decomposed, "Swift holds them equal")
    try storage.save(1, forKey: composed)
    #expect(try storage.load(Int.self, forKey: decomposed) == nil)
    try storage.save(2, forKey: decomposed)
    #expect(try storage.load(forKey: composed) == 1)
    #expect(try storage.load(forKey: decomposed) == 2)
    #expect(try Set(storage.keys().map { Array($0.utf8) }).count == 2)
  }

  @Test func aWrapperOfABadNameReportsAndHoldsNothing() {
    let log = ErrorLog()
    let storage = DelegatedStorage.fresh()
    storage.errorClosure = { log.add($0) }
    let property = Store<Int, DelegatedStorage>(wrappedValue: 1, storage, "")
    #expect(property.wrappedValue == nil)
    property.wrappedValue = 2
    #expect(log.codes == [.invalid, .invalid, .invalid])
  }
}
