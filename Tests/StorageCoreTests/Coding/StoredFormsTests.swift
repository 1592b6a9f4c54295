import Foundation
import StorageCore
import Testing

/// A type that becomes `Codable`, or no longer is, reads what it stored before.
@Suite struct StoredFormsTests {
  private let storage = DelegatedStorage.fresh()

  private enum Before {
    enum Color: String { case red, green }
    enum Level: UInt8 { case low, high }
    struct Tag: RawRepresentable, Equatable { var rawValue: String }
    struct Flags: OptionSet { let rawValue: Int }
  }
  private enum After {
    enum Color: String, Codable { case red, green }
    enum Level: UInt8, Codable { case low, high }
    struct Tag: RawRepresentable, Codable, Equatable { var rawValue: String }
    struct Flags: OptionSet, Codable { let rawValue: Int }
  }

  private static let codings: [CodableCoding] = [.json, .propertyList]
  private static let custom = CodableCoding.custom(
    "own", encode: { try JSONEncoder().encode($0) },
    decode: { try JSONDecoder().decode($0, from: $1) })

  private func property<Value: Codable>(
    _: Value.Type, _ coding: CodableCoding
  ) -> CodableStore<Value, DelegatedStorage> {
    CodableStore(storage, "k", coding: coding)
  }

  @Test func aTypeThatBecomesCodableReadsItsRawValue() throws {
    for coding in Self.codings + [Self.custom] {
      try storage.save(Before.Color.green, forKey: "k")
      #expect(try property(After.Color.self, coding).load() == .green)
      try storage.save(Before.Level.high, forKey: "k")
      #expect(try property(After.Level.self, coding).load() == .high)
      try storage.save(Before.Tag(rawValue: ""), forKey: "k")
      #expect(try property(After.Tag.self, coding).load() == After.Tag(rawValue: ""))
      try storage.save(Before.Flags(rawValue: 5), forKey: "k")
      #expect(try property(After.Flags.self, coding).load() == After.Flags(rawValue: 5))
    }
    #expect(try storage.load(After.Flags.self, forKey: "k") == After.Flags(rawValue: 5))
  }

  @Test func aTypeThatIsNoLongerCodableReadsItsEncoding() throws {
    for coding in Self.codings {
      try property(After.Color.self, coding).save(.green)
      #expect(try storage.load(Before.Color.self, forKey: "k") == .green)
      try property(After.Level.self, coding).save(.high)
      #expect(try storage.load(Before.Level.self, forKey: "k") == .high)
      try property(After.Tag.self, coding).save(After.Tag(rawValue: "t"))
      #expect(try storage.load(Before.Tag.self, forKey: "k") == Before.Tag(rawValue: "t"))
      try property(After.Flags.self, coding).save(After.Flags(rawValue: -1))
      #expect(try storage.load(Before.Flags.self, forKey: "k") == Before.Flags(rawValue: -1))
    }
    try property(After.Color.self, Self.custom).save(.green)
    #expect(code { _ = try storage.load(Before.Color.self, forKey: "k") } == .typeMismatch)
  }

  @Test func anUpdateOfAnOldFormStoresTheNewOne() throws {
    try storage.save(Before.Color.red, forKey: "k")
    let color = property(After.Color.self, .json)
    try color.update { $0 = $0 == .red ? .green : nil }
    #expect(try storage.load(EncodedValue.self, forKey: "k")?.data == Data(#""green""#.utf8))
  }

  @Test func aCodablePropertyReadsThePlainFormOfItsType() throws {
    for coding in Self.codings {
      try storage.save("text", forKey: "k")
      #expect(try property(String.self, coding).load() == "text")
      try storage.save([1, 2], forKey: "k")
      #expect(try property([Int].self, coding).load() == [1, 2])
      storage.set(["a": 1] as [String: Any], forKey: "k")
      #expect(try property([String: Int].self, coding).load() == ["a": 1])
    }
  }

  @Test func anUnknownRawValueIsATypeMismatchAndStays() throws {
    try storage.save("blue", forKey: "k")
    let failure = error { _ = try storage.load(After.Color.self, forKey: "k") }
    #expect(failure?.code == .typeMismatch)
    #expect(failure?.message.contains("blue") == false)
    #expect(code { _ = try storage.load(Before.Color.self, forKey: "k") } == .typeMismatch)
    #expect(try storage.load(String.self, forKey: "k") == "blue")
    for coding in Self.codings {
      try property(String.self, coding).save("blue")
      #expect(code { _ = try storage.load(Before.Color.self, forKey: "k") } == .typeMismatch)
      try property([String].self, coding).save(["red"])
      #expect(code { _ = try storage.load(Before.Color.self, forKey: "k") } == .typeMismatch)
    }
  }

  @Test func aRawValueOfAnotherTypeIsATypeMismatch() throws {
    try storage.save(1, forKey: "k")
    #expect(code { _ = try storage.load(After.Color.self, forKey: "k") } == .typeMismatch)
    #expect(try storage.load(After.Level.self, forKey: "k") == .high, "as UserDefaults returns it")
    try storage.save(257, forKey: "k")
    #expect(code { _ = try storage.load(After.Level.self, forKey: "k") } == .typeMismatch)
    #expect(code { _ = try storage.load(Before.Level.self, forKey: "k") } == .typeMismatch)
    try storage.save(-1, forKey: "k")
    #expect(code { _ = try storage.load(Before.Level.self, forKey: "k") } == .typeMismatch)
    try storage.save(1.0, forKey: "k")
    #expect(code { _ = try storage.load(Before.Level.self, forKey: "k") } == .typeMismatch)
    try storage.save(true, forKey: "k")
    #expect(code { _ = try storage.load(After.Level.self, forKey: "k") } == .typeMismatch)
  }
}
