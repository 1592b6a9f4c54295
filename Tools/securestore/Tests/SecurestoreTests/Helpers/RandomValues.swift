import Foundation
import StorageCore

/// Names and values of all kinds, which follow from a seed.
struct RandomValues {
  /// splitmix64, https://prng.di.unimi.it/splitmix64.c.
  struct Generator: RandomNumberGenerator {
    fileprivate var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var bits = state
      bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
      bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
      return bits ^ bits >> 31
    }
  }

  var generator: Generator

  init(seed: UInt64) { generator = Generator(state: seed) }

  mutating func isLucky(oneIn share: Int) -> Bool { number(0..<share) == 0 }

  private mutating func number(_ range: Range<Int>) -> Int { .random(in: range, using: &generator) }

  // MARK: - Text

  /// Scripts, and characters that have a meaning in one of the formats.
  private static let ranges: [ClosedRange<UInt32>] = [
    0x00...0x1F, 0x20...0x7E, 0x20...0x7E, 0x22...0x27, 0x7F...0xA0, 0xC0...0x17F, 0x300...0x36F,
    0x391...0x3C9, 0x410...0x44F, 0x5D0...0x5EA, 0x627...0x64A, 0x900...0x97F, 0xE01...0xE3A,
    0x1100...0x11FF, 0x200B...0x200F, 0x2028...0x202E, 0x2126...0x212B, 0x3042...0x3096,
    0x3099...0x309A, 0x4E00...0x9FFF, 0xAC00...0xD7A3, 0xE000...0xE010, 0xFB00...0xFB4F,
    0xFEFF...0xFEFF, 0xFFFC...0xFFFF, 0x1F300...0x1F64F, 0xF0000...0xF0010, 0x10FFFE...0x10FFFF,
    0x1...0xD7FF, 0xE000...0x10FFFF,
  ]
  private static let pieces = [
    "\r\n", "\\", "'", "\"", "\\n", "\\u0041", "$HOME", "${A}", "`", ": ", " #", "---\n", "\n- ",
    "{", "}", "[", "]", ",", "%YAML 1.1\n", "*a", "&a", "!!str", "|", ">", "  ", "\t", "é",
    "e\u{301}",
  ]

  private mutating func piece() -> String {
    if isLucky(oneIn: 4) { return Self.pieces.randomElement(using: &generator)! }
    let range = Self.ranges.randomElement(using: &generator)!
    return String(Unicode.Scalar(UInt32.random(in: range, using: &generator))!)
  }

  mutating func text(upTo count: Int) -> String {
    (0..<number(0..<count + 1)).map { _ in piece() }.joined()
  }

  /// A name that a dotenv file can have.
  mutating func variable() -> String {
    let letters = "ABCXYZabcxyz_"
    let others = letters + "0189.-"
    return (0..<number(1..<12)).map { index in
      String((index == 0 ? letters : others).randomElement(using: &generator)!)
    }.joined()
  }

  // MARK: - Values

  private mutating func integer<Value: FixedWidthInteger>(_: Value.Type) -> Value {
    isLucky(oneIn: 4)
      ? [Value.min, .max, 0, 1].randomElement(using: &generator)!
      : .random(in: .min ... .max, using: &generator)
  }

  private static let doubles: [Double] = [
    0, -0.0, 1, 0.1, 1e16, 1e300, .infinity, -.infinity, .nan,
  ]

  private mutating func double() -> Double {
    switch number(0..<4) {
    case 0: Self.doubles.randomElement(using: &generator)!
    case 1: Double(number(-1_000..<1_000))
    case 2: .random(in: -10...10, using: &generator)
    default: Double(bitPattern: generator.next())
    }
  }

  private mutating func decimal() -> Decimal {
    Decimal(
      sign: isLucky(oneIn: 2) ? .minus : .plus, exponent: number(-60..<60),
      significand: Decimal(generator.next() >> UInt64(number(0..<64))))
  }

  private mutating func data() -> Data {
    Data((0..<number(0..<40)).map { _ in UInt8.random(in: 0...255, using: &generator) })
  }

  private mutating func date() -> Date {
    Date(
      timeIntervalSinceReferenceDate: isLucky(oneIn: 3) ? double() : Double(integer(Int32.self)) / 8
    )
  }

  private mutating func array<Value>(
    _ make: (inout RandomValues) -> Value
  ) -> [Value] { (0..<number(0..<5)).map { _ in make(&self) } }

  private mutating func dictionary<Value>(
    _ make: (inout RandomValues) -> Value
  ) -> [String: Value] {
    Dictionary(array { ($0.text(upTo: 4), make(&$0)) }) { first, _ in first }
  }

  private struct Part: Codable, Equatable {
    var text: String
    var numbers: [Int?]
    var date: Date
    var data: Data
    var names: [String: Decimal]
    var flag: Bool?
  }

  private mutating func part() -> Part {
    Part(
      text: text(upTo: 8), numbers: array { $0.isLucky(oneIn: 3) ? nil : $0.integer(Int.self) },
      date: Date(timeIntervalSinceReferenceDate: Double(integer(Int32.self)) / 8), data: data(),
      names: dictionary { $0.decimal() }, flag: isLucky(oneIn: 2) ? nil : true)
  }

  private mutating func any(_ depth: Int = 0) -> AnyStorableValue {
    func made(_ value: some StorableValue) -> AnyStorableValue {
      do { return try AnyStorableValue(value) } catch { preconditionFailure("\(error)") }
    }
    return switch number(0..<(depth < 3 ? 9 : 7)) {
    case 0: made(text(upTo: 8))
    case 1: made(integer(Int.self))
    case 2: made(double())
    case 3: made(data())
    case 4: made(isLucky(oneIn: 2) ? nil : integer(UInt8.self))
    case 5: made(isLucky(oneIn: 2))
    case 6: made(array { $0.decimal() })
    case 7: made(array { $0.any(depth + 1) })
    default: made(dictionary { $0.any(depth + 1) })
    }
  }

  private mutating func scalar() -> Sample {
    switch number(0..<20) {
    case 0...4: Sample(text(upTo: 30))
    case 5: Sample(isLucky(oneIn: 2))
    case 6: Sample(integer(Int.self))
    case 7: Sample(integer(Int8.self))
    case 8: Sample(integer(UInt16.self))
    case 9: Sample(integer(Int32.self))
    case 10: Sample(integer(UInt64.self))
    case 11: Sample(integer(UInt.self))
    case 12, 13: Sample(double())
    case 14: Sample(Float(double()))
    case 15: Sample(decimal())
    case 16: Sample(data())
    case 17: Sample(date())
    case 18: Sample(URL(fileURLWithPath: "/" + text(upTo: 5).filter { $0 != "\0" }))
    default: Sample(UUID())
    }
  }

  mutating func sample() -> Sample {
    switch number(0..<18) {
    case 0...8: scalar()
    case 9: Sample(isLucky(oneIn: 2) ? nil : text(upTo: 8))
    case 10: Sample(array { $0.text(upTo: 8) })
    case 11: Sample(array { $0.isLucky(oneIn: 2) ? nil : $0.double() })
    case 12: Sample(dictionary { $0.data() })
    case 13: Sample(Set(array { $0.integer(UInt8.self) }))
    case 14: Sample(array { $0.any() })
    case 15: Sample(dictionary { $0.any() })
    case 16: Sample(codable: part())
    default: Sample(codable: part(), isJSON: false)
    }
  }
}
