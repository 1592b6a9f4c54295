/// A value that is stored as the text that a person would write for it.
protocol TextualValue {
  /// The value of a text, or nil when the text is no such value.
  init?(plainText: Substring)
  /// The one text of the value.
  var plainText: String { get }
}

extension Bool: TextualValue {
  init?(plainText: Substring) {
    switch plainText {
    case "true": self = true
    case "false": self = false
    default: return nil
    }
  }

  var plainText: String { self ? "true" : "false" }
}

extension TextualValue where Self: FixedWidthInteger {
  init?(plainText: Substring) { self.init(plainText, radix: 10) }
  var plainText: String { String(self) }
}

extension Int: TextualValue {}
extension Int8: TextualValue {}
extension Int16: TextualValue {}
extension Int32: TextualValue {}
extension Int64: TextualValue {}
extension Int128: TextualValue {}
extension UInt: TextualValue {}
extension UInt8: TextualValue {}
extension UInt16: TextualValue {}
extension UInt32: TextualValue {}
extension UInt64: TextualValue {}
extension UInt128: TextualValue {}

extension TextualValue where Self: BinaryFloatingPoint & LosslessStringConvertible {
  init?(plainText: Substring) {
    self.init(String(plainText))
    // A number that is too big reads as infinite, although the text does not say so.
    guard !isInfinite || plainText.contains("inf") else { return nil }
  }

  /// The shortest text that reads as the same number.
  var plainText: String { description }
}

extension Float: TextualValue {}
extension Double: TextualValue {}
