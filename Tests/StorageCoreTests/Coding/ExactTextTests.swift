import CryptoCore
import Foundation
import StorageCore
import StorageTesting
import Testing

/// Text that a file of settings gave is read as a number, a truth value and the like, if it is
/// exactly one.
@Suite struct ExactTextTests {
  private let storage = DelegatedStorage.fresh()

  private enum Level: Int { case low, high }
  private enum Size: UInt8, Codable {
    case small = 1
    case large
  }
  private enum Ratio: Double { case half = 0.5 }
  private enum Mode: String { case fast, slow }
  private enum CodableMode: String, Codable { case fast, slow }
  private struct Flags: OptionSet { let rawValue: Int }

  private func read<Value>(_ text: String, as _: Value.Type) throws -> Value? {
    try storage.save(text, forKey: "k")
    return try storage.load(Value.self, forKey: "k")
  }

  private func refusal<Value>(of text: String, as type: Value.Type) -> StorageError? {
    error { _ = try read(text, as: type) }
  }

  @Test func textIsReadAsEachTypeThatHasAnExactText() throws {
    #expect(try read("9000", as: Int.self) == 9000)
    #expect(try read("-3", as: Int8.self) == -3)
    #expect(try read("+5", as: Int16.self) == 5)
    #expect(try read("-2147483648", as: Int32.self) == .min)
    #expect(try read("007", as: Int64.self) == 7)
    #expect(try read("18446744073709551615", as: UInt.self) == .max)
    #expect(try read("255", as: UInt8.self) == 255)
    #expect(try read("0", as: UInt16.self) == 0)
    #expect(try read("1", as: UInt32.self) == 1)
    #expect(try read("2", as: UInt64.self) == 2)
    #expect(try read("1.5", as: Double.self) == 1.5)
    #expect(try read("1e-3", as: Double.self) == 0.001)
    #expect(try read("12", as: Double.self) == 12)
    #expect(try read("0.0", as: Double.self) == 0)
    #expect(try read("-.185", as: Double.self) == -0.185)
    #expect(try read("0.1", as: Float.self) == 0.1)
    #expect(try read("1.50", as: Decimal.self) == Decimal(string: "1.5"))
    for text in ["true", "TRUE", "yes", "1"] { #expect(try read(text, as: Bool.self) == true) }
    for text in ["false", "No", "0"] { #expect(try read(text, as: Bool.self) == false) }
    #expect(try read("https://a.example/b?c=d", as: URL.self)?.host() == "a.example")
    let id = UUID()
    #expect(try read(id.uuidString.lowercased(), as: UUID.self) == id)
  }

  @Test func enumerationsAndOptionSetsAreReadAsTheirRawValues() throws {
    #expect(try read("1", as: Level.self) == .high)
    #expect(try read("2", as: Size.self) == .large)
    #expect(try read("0.5", as: Ratio.self) == .half)
    #expect(try read("slow", as: Mode.self) == .slow)
    #expect(try read("slow", as: CodableMode.self) == .slow)
    #expect(try read("6", as: Flags.self) == Flags(rawValue: 6))
    for text in ["3", "1.0", "high", "-1"] {
      #expect(refusal(of: text, as: Level.self)?.code == .typeMismatch, "\(text)")
      #expect(refusal(of: text, as: Size.self)?.code == .typeMismatch, "\(text)")
    }
    #expect(refusal(of: "257", as: Size.self)?.code == .typeMismatch)
    #expect(refusal(of: "Slow", as: Mode.self)?.code == .typeMismatch)
  }

  @Test(arguments: [
    "", " ", " 1", "1 ", "1\n", "1,000", "1_000", "1.0", "1e3", "0x10", "one", "true", "--1", "٣",
    "9223372036854775808", "-9223372036854775809", "1\u{0}",
  ])
  func textThatIsNotExactlyAnIntIsLeftAsItIs(_ text: String) throws {
    #expect(refusal(of: text, as: Int.self)?.code == .typeMismatch)
    #expect(try storage.load(String.self, forKey: "k") == text)
  }

  @Test func noTextIsRoundedCutOrTakenForInfinity() throws {
    for text in ["256", "-1", "1.0"] {
      #expect(refusal(of: text, as: UInt8.self)?.code == .typeMismatch, "\(text)")
    }
    let noDoubles = [
      "1e400", "-1e400", "1e-400", "inf", "nan", "infinity", "9007199254740993", "0x1p3", " 1.5",
      "1.5 ", "1,5", "1.5.1", "", ".", "e5", String(repeating: "9", count: 400),
    ]
    for text in noDoubles {
      #expect(refusal(of: text, as: Double.self)?.code == .typeMismatch, "\(text)")
    }
    #expect(refusal(of: "16777217", as: Float.self)?.code == .typeMismatch)
    #expect(refusal(of: "1e39", as: Float.self)?.code == .typeMismatch)
    let digits = String(repeating: "9", count: 39)
    for text in [digits, "1x", "1e2", "1.", ".5", "NaN", "", "-", "+-1", "1,5"] {
      #expect(refusal(of: text, as: Decimal.self)?.code == .typeMismatch, "\(text)")
    }
    for text in ["on", "off", "t", "y", "2", "", " true", "true "] {
      #expect(refusal(of: text, as: Bool.self)?.code == .typeMismatch, "\(text)")
    }
    for text in ["no scheme", "example", "http://a b", ""] {
      #expect(refusal(of: text, as: URL.self)?.code == .typeMismatch, "\(text)")
    }
    #expect(refusal(of: "12345", as: UUID.self)?.code == .typeMismatch)
  }

  @Test func textIsReadAsNoOtherType() throws {
    #expect(refusal(of: "1", as: Int?.self)?.code == .typeMismatch)
    #expect(refusal(of: "1", as: [Int].self)?.code == .typeMismatch)
    #expect(refusal(of: "[1]", as: [Int].self)?.code == .typeMismatch)
    #expect(refusal(of: "1", as: Data.self)?.code == .typeMismatch)
    #expect(refusal(of: "1", as: Date.self)?.code == .typeMismatch)
    try storage.save(1, forKey: "k")
    #expect(code { _ = try storage.load(String.self, forKey: "k") } == .typeMismatch)
    #expect(code { _ = try storage.load(Bool.self, forKey: "k") } == .typeMismatch)
  }

  @Test func theErrorSaysWhatIsWrongAndQuotesNothing() throws {
    let failure = try #require(refusal(of: "90x0", as: Int.self))
    #expect(failure.message.contains("the text is not exactly a value of that type"))
    #expect(!failure.description.contains("90x0"))
  }

  @Test func everyWayToReadAndToChangeFollowsTheRule() async throws {
    func text(_ text: String = "41") throws { try storage.save(text, forKey: "k") }
    let plain = Store<Int, DelegatedStorage>(storage, "k")
    let codable = CodableStore<Int, DelegatedStorage>(storage, "k")
    let unwrapped = UnwrappedStore(wrappedValue: 8, storage, "k")
    @Live(storage, "k") var live = 8
    @Live(storage, "k") var optional: Int?
    try text()
    #expect(plain.wrappedValue == 41 && codable.wrappedValue == 41)
    #expect(unwrapped.wrappedValue == 41 && live == 41 && optional == 41)
    #expect(try await plain.loadAsync() == 41)
    #expect(plain.state == .value(41) && $live.state == .value(41))
    #expect(try storage.transaction { try $0.load(Int.self, forKey: "k") } == 41)
    #expect(try storage.load(String.self, forKey: "k") == "41", "a read changes nothing")

    try plain.update { $0 = ($0 ?? 0) + 1 }
    #expect(try storage.summary(forKey: "k")?.type.description == "Int")
    #expect(try storage.load(Int.self, forKey: "k") == 42 && live == 42)
    try text()
    try codable.update { $0 = ($0 ?? 0) + 1 }
    #expect(codable.wrappedValue == 42)
    try text()
    try storage.transaction { try $0.update(Int.self, forKey: "k") { $0 = ($0 ?? 0) + 1 } }
    #expect(plain.wrappedValue == 42)
    try text()
    try $live.update { $0 += 1 }
    #expect(live == 42 && plain.wrappedValue == 42)
    try text()
    live += 2
    #expect(try storage.load(Int.self, forKey: "k") == 43)
    try text("many")
    #expect(code { try plain.update { $0 = 0 } } == .typeMismatch)
    #expect(code { try $live.save(0) } == .typeMismatch)
    #expect(try storage.load(String.self, forKey: "k") == "many")
  }
}
