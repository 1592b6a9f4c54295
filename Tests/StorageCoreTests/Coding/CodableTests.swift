import Foundation
import StorageCore
import Testing

@Suite struct CodableTests {
  private let storage = DelegatedStorage.fresh()

  private struct User: Codable, Equatable {
    var name = "Ada"
    var tags: Set<String> = ["a"]
    var home: URL? = URL(string: "https://example.com")
    var children: [User] = []
  }

  private struct Secretive: Codable {
    struct Refusal: Error { let secret = "marker" }
    init() {}
    init(from decoder: any Decoder) throws { throw Refusal() }
    func encode(to encoder: any Encoder) throws { throw Refusal() }
  }

  private func property<Value: Codable>(_: Value.Type, _ coding: CodableCoding)
    -> CodableStore<Value, DelegatedStorage>
  {
    CodableStore(storage, "k", coding: coding)
  }

  private static let reversed = CodableCoding.custom(
    "reversed", encode: { Data(try JSONEncoder().encode($0).reversed()) },
    decode: { try JSONDecoder().decode($0, from: Data($1.reversed())) })

  @Test func everyCodingReadsWhatItWrote() throws {
    let user = User(children: [User(name: "B", home: nil)])
    for coding in [CodableCoding.json, .propertyList, Self.reversed] {
      try property(User.self, coding).save(user)
      #expect(try property(User.self, coding).load() == user)
    }
    try storage.save(user, forKey: "k")
    #expect(try storage.load(forKey: "k") == user)
    #expect(try property(User.self, .json).load() == user, "JSON is what the plain calls use")
    storage.set(encodable: user, forKey: "k")
    #expect(storage.decodable(forKey: "k") == user)
  }

  @Test func oneCodingDoesNotReadWhatAnotherWrote() throws {
    let named = CodableCoding.custom(
      "other", encode: { try JSONEncoder().encode($0) },
      decode: { try JSONDecoder().decode($0, from: $1) })
    let codings = [CodableCoding.json, .propertyList, Self.reversed, named]
    for (written, coding) in codings.enumerated() {
      try property(User.self, coding).save(User())
      for (read, other) in codings.enumerated() where read != written {
        let code = code { _ = try property(User.self, other).load() }
        #expect(code == .typeMismatch, "\(written) as \(read)")
      }
    }
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity])
  func whatJSONCantSayIsInvalidAndChangesNothing(_ number: Double) throws {
    try property([Double].self, .json).save([1])
    #expect(code { try property([Double].self, .json).save([number]) } == .invalid)
    #expect(try property([Double].self, .json).load() == [1])
    try property([Double].self, .propertyList).save([number])
    let back = try property([Double].self, .propertyList).load()
    #expect(back?.first?.isNaN == number.isNaN)
  }

  @Test func whatAPropertyListCantHoldIsInvalidAndChangesNothing() throws {
    try property(String.self, .propertyList).save("kept")
    // Foundation writes nil as this text.
    #expect(code { try property(String.self, .propertyList).save("$null") } == .invalid)
    #expect(code { try property(Int128.self, .propertyList).save(5) } == .invalid)
    #expect(code { try property(Secretive.self, .propertyList).save(Secretive()) } == .invalid)
    #expect(try property(String.self, .propertyList).load() == "kept")
  }

  @Test func aTypeThatChangedSaysWhichKeyDoesNotDecode() throws {
    struct OldPart: Codable { var number = 1, text: String? = "marker value" }
    struct Old: Codable { var parts = ["marker key": [OldPart()]], plan = "marker plan" }
    struct NewPart: Codable { var number: Int, email: String }
    struct Added: Codable { var parts: [String: [NewPart]] }
    struct RetypedPart: Codable { var number: String }
    struct Retyped: Codable { var parts: [String: [RetypedPart]] }
    struct Renamed: Codable { var tariff: String }
    enum Plan: String, Codable { case free }
    struct Narrowed: Codable { var plan: Plan }
    for coding in [CodableCoding.json, .propertyList, Self.reversed] {
      try property(Old.self, coding).save(Old())
      let failures = [
        error { _ = try property(Renamed.self, coding).load() },
        error { _ = try property(Added.self, coding).load() },
        error { _ = try property(Retyped.self, coding).load() },
        error { _ = try property(Narrowed.self, coding).load() },
      ]
      #expect(failures.allSatisfy { $0?.code == .typeMismatch })
      let said = failures.map { $0?.description ?? "nothing" }
      #expect(said[0].contains("doesn't decode as Renamed: the key \"tariff\" is missing."))
      #expect(said[1].contains("the key \"parts[...][...].email\" is missing"))
      #expect(said[2].contains("\"parts[...][...].number\" is not of type String"))
      #expect(said[3].contains("\"plan\" is a value that this version of its type does not know"))
      #expect(!said.contains { $0.contains("marker") }, "\(said)")
    }
  }

  @Test func aKeyThatIsDataIsNotNamed() throws {
    struct Key: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }
    struct Dynamic: Codable {
      init() {}
      init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        _ = try values.decode(Int.self, forKey: Key(stringValue: "marker"))
      }
      func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(1, forKey: Key(stringValue: "other"))
      }
    }
    try property(Dynamic.self, .json).save(Dynamic())
    let failure = try #require(error { _ = try property(Dynamic.self, .json).load() })
    #expect(failure.message.contains("a key is missing"))
    #expect(!failure.description.contains("marker"))
    try property([String: Int].self, .json).save(["marker": 1])
    let retyped = try #require(
      error { _ = try property([String: Bool].self, .json).load() })
    #expect(!retyped.description.contains("marker"))
  }

  @Test func anErrorOfTheTypesOwnCodingIsNotQuoted() throws {
    let encoding = try #require(error { try storage.save(Secretive(), forKey: "k") })
    #expect(encoding.code == .invalid)
    #expect(!encoding.description.contains("marker"))
    try storage.save(["a": 1] as [String: Int], forKey: "other")
    try property([String: Int].self, .json).save(["a": 1])
    let decoding = try #require(error { _ = try property(Secretive.self, .json).load() })
    #expect(decoding.code == .typeMismatch)
    #expect(!decoding.description.contains("marker"))
  }

  @Test func aCustomCodingThatGivesAnotherTypeIsATypeMismatch() throws {
    let liar = CodableCoding.custom(
      "liar", encode: { _ in Data() }, decode: { _, _ in "not an integer" })
    try property(Int.self, liar).save(1)
    #expect(code { _ = try property(Int.self, liar).load() } == .typeMismatch)
  }

  @Test func aCustomCodingHasAShortName() throws {
    func coding(_ count: Int) -> CodableCoding {
      .custom(
        String(repeating: "x", count: count), encode: { try JSONEncoder().encode($0) },
        decode: { try JSONDecoder().decode($0, from: $1) })
    }
    try property([Int].self, coding(255)).save([1])
    #expect(try property([Int].self, coding(255)).load() == [1])
    #expect(code { try property([Int].self, coding(256)).save([2]) } == .invalid)
  }
}
