/// Texts of a Double or a Float that read back with the same bits.
enum FloatText {
  /// The text of a value: the shortest digits, `inf`, `nan`, or `nan` with its bits.
  static func text<Value: ReadableFloat>(_ value: Value) -> String {
    let text = "\(value)"
    guard value.isNaN, Value(text)?.bitPattern != value.bitPattern else { return text }
    return bitsPrefix + String(value.bitPattern, radix: 16) + ")"
  }

  /// The value of such a text, or of any number that Swift reads.
  ///
  /// Only the words for an infinity make one, not a number that is too large.
  static func value<Value: ReadableFloat>(_ text: String) -> Value? {
    if text.hasPrefix(bitsPrefix), text.hasSuffix(")"),
      let bits = Value.Bits(text.dropFirst(bitsPrefix.count).dropLast(), radix: 16)
    {
      let value = Value(bitPattern: bits)
      if value.isNaN, self.text(value) == text { return value }
    }
    guard let value = Value(text) else { return nil }
    return value.isInfinite && text.contains(where: \.isNumber) ? nil : value
  }

  private static let bitsPrefix = "nan(0x"
}
