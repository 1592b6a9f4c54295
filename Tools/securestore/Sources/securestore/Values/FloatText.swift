/// Texts of a Double or a Float that read back with the same bits.
enum FloatText {
  /// The text of a value: the shortest digits, `inf`, `nan`, or `nan` with its bits.
  static func text<Value: ReadableFloat>(_ value: Value) -> String {
    let text = "\(value)"
    guard value.isNaN, Value(text)?.bitPattern != value.bitPattern else { return text }
    return bitsPrefix + String(value.bitPattern, radix: 16) + ")"
  }

  /// The value of such a text, or of a decimal number, by the library's rule for stored text.
  ///
  /// A fraction becomes the nearest value. A whole number must be held exactly, and no number
  /// becomes an infinity or a zero that it is not.
  static func value<Value: ReadableFloat>(_ text: String) -> Value? {
    if text.hasPrefix(bitsPrefix), text.hasSuffix(")"),
      let bits = Value.Bits(text.dropFirst(bitsPrefix.count).dropLast(), radix: 16)
    {
      let value = Value(bitPattern: bits)
      if value.isNaN, self.text(value) == text { return value }
    }
    guard text.utf8.contains(where: { (0x30...0x39).contains($0) }) else { return Value(text) }
    guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }) else { return nil }
    guard text.utf8.contains(where: { ".eE".utf8.contains($0) }) else {
      return Int128(text).flatMap { Value(exactly: $0) }
    }
    guard let value = Value(text), value.isFinite else { return nil }
    let digits = text.prefix { $0 != "e" && $0 != "E" }
    return value == 0 && digits.contains(where: { ("1"..."9").contains($0) }) ? nil : value
  }

  private static let bitsPrefix = "nan(0x"
}
