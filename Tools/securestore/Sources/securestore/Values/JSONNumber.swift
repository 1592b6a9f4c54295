/// Accepts only numbers that read back unchanged.
enum JSONNumber {
  /// The number of significant digits that identify every Double.
  private static let doubleDigits = 17

  /// Whether programs read the number back unchanged: an integer of 64 bits, or a Double.
  ///
  /// A fraction of up to 17 digits is accepted as a Double, even if a shorter one names the same Double. Any
  /// other number must be the Double's shortest form, apart from its notation.
  static func isKept(_ text: String) -> Bool {
    if Int64(text) != nil || UInt64(text) != nil { return true }
    guard let value = Double(text), value.isFinite else { return false }
    let written = Decimal(text)
    guard value != 0 else { return written.digits.isEmpty }
    if written.digits.count <= doubleDigits, text.contains(where: { ".eE".contains($0) }) {
      return true
    }
    return written == Decimal("\(value)")
  }

  /// The significant digits of a number, and the power of ten of the last one.
  private struct Decimal: Equatable {
    private(set) var digits: Substring
    private var exponent: Int

    init(_ text: String) {
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
      self.exponent = exponent
    }
  }
}
