/// Bytes that a vector file writes as hexadecimal digits.
package struct HexBytes: Decodable, Sendable {
  /// The bytes.
  package let bytes: [UInt8]

  /// The bytes of pairs of digits, or nil for anything else.
  package init?(_ text: some StringProtocol) {
    let digits = Array(text.utf8)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = Self.value(digits[index]), let low = Self.value(digits[index + 1]) else {
        return nil
      }
      bytes.append(high << 4 | low)
    }
    self.bytes = bytes
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let value = HexBytes(text) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not hexadecimal")
    }
    self = value
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

extension [UInt8] {
  /// The bytes of hexadecimal digits written in a test; a mistake there ends the run.
  package init(hex: String) {
    guard let value = HexBytes(hex) else { fatalError("not hexadecimal: \(hex)") }
    self = value.bytes
  }

  /// Lower-case hexadecimal digits.
  package var hex: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
