import Foundation
import LocalData
import Testing

@Suite struct SerializerTests {
  private let folder = TestFolder()

  private struct Profile: Codable, Hashable, Sendable {
    var name: String
    var scores: [Int]
    var photo: Data
  }
  private let profile = Profile(name: "A", scores: [1, 2], photo: Data([0, 255]))

  @Test(arguments: [Serializer.json, .plist])
  func codableValuesComeBack(_ serializer: Serializer) async throws {
    for each in Combination.sealed.prefix(3) + Combination.plain {
      let key = key("p", each.domain, each.security, serializer, of: Profile.self)
      try await folder.router().set(profile, for: key)
      #expect(try await folder.router().get(key) == profile)
      try await folder.router().remove(key)
    }
  }

  @Test func dataIsStoredAsItIs() async throws {
    let key = key(
      "d", .fileSystem(directory: .documents), .none, .data, of: Data.self)
    let bytes = Data((0...255).map { UInt8($0) })
    try await folder.router().set(bytes, for: key)
    let url = folder.url.appendingPathComponent("data/com.example.app/Documents/d")
    #expect(try Data(contentsOf: url) == bytes)
    #expect(try await folder.router().get(key) == bytes)
    try await folder.router().set(Data(), for: key)
    #expect(try await folder.router().get(key) == Data())
  }

  private static let reversing = Serializer.custom(
    "reversing", encode: { (text: String) in Data(text.utf8.reversed()) },
    decode: { String(decoding: $0.reversed(), as: UTF8.self) })

  @Test func aCustomSerializerIsUsed() async throws {
    let key = key("c", .fileSystem(directory: .documents), .none, Self.reversing)
    try await folder.router().set("abc", for: key)
    #expect(folder.holds("cba"))
    #expect(try await folder.router().get(key) == "abc")
  }

  @Test func aSerializerOfAnotherTypeIsRefused() async {
    let number = key("c", .userDefaults, .none, Self.reversing, of: Int.self)
    #expect(await code { try await folder.router().set(1, for: number) } == .unsupported)
    let text = key("d", .userDefaults, .none, .data, of: String.self)
    #expect(await code { try await folder.router().set("1", for: text) } == .unsupported)
  }

  private struct Leak: Error, CustomStringConvertible { let description = "secret-text" }

  @Test func whatACustomSerializerThrowsIsNotQuoted() async throws {
    let failing = Serializer.custom(
      encode: { (_: String) in throw Leak() }, decode: { (_: Data) -> String in throw Leak() })
    let error = try #require(
      await error {
        try await folder.router().set("1", for: key("c", .userDefaults, .none, failing))
      })
    #expect(error.code == .invalid)
    #expect(!"\(error)".contains("secret-text"))
  }

  @Test func aScalarIsAPropertyListOfItsOwn() async throws {
    let router = folder.router()
    for security in [SecurityPolicy.none, .recommended] {
      let number = key("number-\(security)", .userDefaults, security, .plist, of: Double.self)
      try await router.set(0.5, for: number)
      #expect(try await router.get(number) == 0.5)
      let text = key("text-\(security)", .userDefaults, security, .plist, of: String.self)
      try await router.set("text", for: text)
      #expect(try await router.get(text) == "text")
      #expect(await code { try await router.set("$null", for: text) } == .invalid)
      #expect(try await router.get(text) == "text")
    }
  }

  @Test(arguments: Combination.plain.prefix(4) + Combination.sealed.prefix(3))
  func anotherTypeIsAMismatchAndStays(_ case: Combination) async throws {
    let router = folder.router()
    let text = key("t", `case`.domain, `case`.security)
    try await router.set("not a number", for: text)
    let number = key("t", `case`.domain, `case`.security, of: Int.self)
    #expect(await code { _ = try await router.get(number) } == .typeMismatch)
    #expect(try await router.get(text) == "not a number")
  }

  @Test func anotherSerializerIsAMismatchAndStays() async throws {
    let domain = StorageDomain.userDefaults
    let router = folder.router()
    try await router.set(["a"], for: key("t", domain, of: [String].self))
    let other = key("t", domain, .recommended, .plist, of: [String].self)
    #expect(await code { _ = try await router.get(other) } == .typeMismatch)
    let plain = StorageDomain.fileSystem(directory: .documents)
    try await router.set(["a"], for: key("t", plain, .none, of: [String].self))
    let otherPlain = key("t", plain, .none, .plist, of: [String].self)
    #expect(await code { _ = try await router.get(otherPlain) } == .configurationConflict)
  }

  // MARK: - AnyCodable

  private static let mixed: AnyCodable = [
    "null": nil, "true": true, "int": 1, "min": .int(.min), "max": .uint(.max), "uint": .uint(1),
    "double": 1.5, "whole": .double(1), "zero": .double(-0.0), "infinite": .double(.infinity),
    "text": "1", "data": .data(Data([1, 2])), "date": .date(Date(timeIntervalSince1970: 1.25)),
    "list": [1, 1.5, true, nil, ["a": 2]], "tagged": ["$double": "3"], "escaped": ["$$x": 1],
    "empty": [:], "two": ["$double": "3", "b": 1], "foreign": ["$other": 1],
  ]

  @Test(arguments: [Serializer.json, .plist])
  func mixedPayloadsKeepTheirTypes(_ serializer: Serializer) async throws {
    var value = Self.mixed
    // A property list has no null within.
    if serializer.name == "plist", case .dictionary(var entries) = value {
      entries["null"] = nil
      entries["list"] = [1, 1.5, true]
      value = .dictionary(entries)
    }
    let key = key("m", .userDefaults, .none, serializer, of: AnyCodable.self)
    try await folder.router().set(value, for: key)
    let found = try #require(try await folder.router().get(key))
    #expect(found == value)
    guard case .dictionary(let entries) = found else { return }
    #expect(entries["true"] == .bool(true))
    #expect(entries["int"] == .int(1))
    #expect(entries["uint"] == .uint(1))
    #expect(entries["whole"] == .double(1))
  }

  @Test func anyCodableIsMadeOfSwiftValues() {
    #expect(AnyCodable(Int8(-3)) == .int(-3))
    #expect(AnyCodable(UInt16(3)) == .uint(3))
    #expect(AnyCodable(Int128(-3)) == .int(-3))
    #expect(AnyCodable(Int128.max) == nil && AnyCodable(UInt128.max) == nil)
    #expect(AnyCodable(true) == .bool(true))
    #expect(AnyCodable(["a": [1, "b"]] as [String: Any]) == ["a": [1, "b"]])
    #expect(AnyCodable(Date.distantPast...Date.distantFuture) == nil)
    #expect(AnyCodable([1, Optional<Int>.none as Any]) == nil)
    #expect(AnyCodable.array([1]).value as? [Int64] == [1])
  }

  @Test(arguments: [#"{"$double":"x"}"#, #"{"$data":"?"}"#, #"{"$uint":"-1"}"#, #"{"$date":1}"#])
  func aTagWithoutItsValueIsRefused(_ text: String) {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(AnyCodable.self, from: Data(text.utf8))
    }
  }

  @Test func nestingWithoutEndIsRefused() {
    let text = String(repeating: "[", count: 100_000)
    #expect(throws: (any Error).self) {
      try JSONDecoder().decode(AnyCodable.self, from: Data(text.utf8))
    }
  }
}
