/// Decides which numbers can be a Double or a Float without a change.
enum JSONNumber {
  /// The value of a number in JSON; nil if the type does not hold it, or would change it.
  ///
  /// Not changed is a whole number that the type holds exactly. So is a fraction with as many
  /// digits as identify a value of the type, or the shortest form of a value, apart from its
  /// notation.
  static func value<Value: ReadableFloat>(_ text: String) -> Value? {
    guard let value = Value(text), value.isFinite else { return nil }
    let written = DecimalDigits(text)
    if value == 0 { return written.digits.isEmpty ? value : nil }
    if written == DecimalDigits("\(value)") { return value }
    if !text.contains(where: { ".eE".contains($0) }) {
      return Int128(text).map { Int128(exactly: value) == $0 } ?? false ? value : nil
    }
    if written.digits.count <= Value.identifyingDigits { return value }
    // A Float is often written as the Double of the same value.
    guard Value.self != Double.self, let double: Double = self.value(text) else { return nil }
    return Double(value) == double ? value : nil
  }
}

/// The significant digits of a decimal number, and the power of ten of the last one.
struct DecimalDigits: Equatable {
  let isNegative: Bool
  private(set) var digits: Substring
  private var exponent: Int

  /// Takes a number apart that is written as in JSON.
  init(_ text: String) {
    isNegative = text.hasPrefix("-")
    let parts = text.split(whereSeparator: { "eE".contains($0) })
    let number = parts[0].drop { $0 == "-" }
    let fraction = number.drop { $0 != "." }.dropFirst()
    var digits = number.filter { $0 != "." }.drop { $0 == "0" }
    // A larger exponent makes an infinity or a zero, which are not compared.
    let written = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
    var exponent = min(max(written, -1 << 40), 1 << 40) - fraction.count
    while digits.last == "0" {
      digits.removeLast()
      exponent += 1
    }
    self.digits = digits
    self.exponent = digits.isEmpty ? 0 : exponent
  }
}
