import Foundation
import StorageCore
import StorageFoundation
import Testing

/// The bytes of a `Codable` value, for a program that doesn't know the type.
@Suite struct EncodedValueTests {
  private let storage = DelegatedStorage.fresh()

  private struct Account: Codable, Equatable {
    var amount = Decimal(string: "99999999999999999.99")
    var large = Int128.min
    var larger = UInt128.max
    var rate = 1e300
    var zero = -0.0
  }

  private func property(_ coding: CodableCoding) -> CodableStore<Account, DelegatedStorage> {
    CodableStore(storage, "k", coding: coding)
  }

  @Test func everyDigitStaysWhenItIsLoadedAndSaved() throws {
    try storage.save(Account(), forKey: "k")
    let stored = try #require(try storage.load(EncodedValue.self, forKey: "k"))
    #expect(stored.coding == .json)
    let text = String(decoding: stored.data, as: UTF8.self)
    #expect(text.contains("99999999999999999.99"))
    #expect(text.contains("\(Int128.min)") && text.contains("\(UInt128.max)"))
    try storage.transaction { try $0.save(EncodedValue(stored.data, coding: .json), forKey: "k") }
    #expect(try storage.load(Account.self, forKey: "k") == Account())
    #expect(try storage.load(EncodedValue.self, forKey: "k") == stored)
  }

  @Test func aPropertyListStaysOne() throws {
    let names = CodableStore<[String: Date], DelegatedStorage>(storage, "k", coding: .propertyList)
    let value = ["a": Date(timeIntervalSinceReferenceDate: 0.1)]
    try names.save(value)
    let stored = try #require(try storage.load(EncodedValue.self, forKey: "k"))
    #expect(stored.coding == .propertyList)
    try storage.save(EncodedValue(stored.data, coding: .propertyList), forKey: "k")
    #expect(try names.load() == value)
  }

  @Test(arguments: [
    "0", "-0.0", "1e400", "-1E-400", "0.12345678901234567890123456789", "1E+5", " [1 , {} ] ",
    "{\"a\" : [null,true,false],\"b\":\"\\u00e9\\n\"}", "\"é\"", "[]", "[[[]]]",
  ])
  func anyJSONIsTakenAsItIs(_ text: String) throws {
    let value = EncodedValue(Data(text.utf8), coding: .json)
    try storage.save(value, forKey: "k")
    #expect(try storage.load(EncodedValue.self, forKey: "k")?.data == Data(text.utf8))
  }

  @Test func anyOtherFormIsATypeMismatch() throws {
    let custom = CodableCoding.custom(
      "own", encode: { try JSONEncoder().encode($0) },
      decode: { try JSONDecoder().decode($0, from: $1) })
    try property(custom).save(Account())
    #expect(code { _ = try storage.load(EncodedValue.self, forKey: "k") } == .typeMismatch)
    try storage.save("{}", forKey: "k")
    #expect(code { _ = try storage.load(EncodedValue.self, forKey: "k") } == .typeMismatch)
    try storage.save(NSString("{}"), forKey: "k")
    #expect(code { _ = try storage.load(EncodedValue.self, forKey: "k") } == .typeMismatch)
  }
}
