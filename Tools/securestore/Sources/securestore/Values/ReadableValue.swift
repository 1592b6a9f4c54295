internal import Foundation
internal import StorageCore

/// A type of a property that can be written as JSON or text, and read from both.
protocol ReadableValue: StorableValue, SendableMetatype, JSONConvertible {
  /// The value as text, for a type with a text of its own; nil for any other type, and for data.
  ///
  /// `reading(text:exactly:)` returns the same value for it, or the nearest millisecond of a date.
  var text: String? { get }

  /// The value of `json`, in the form of the property above, or a date as text; nil for any other
  /// form.
  static func reading(_ json: JSONValue) -> Self?

  /// The value of a text.
  ///
  /// - Parameters:
  ///   - text: the text; white space around it is removed unless the type is `String`.
  ///   - exactly: whether to refuse text that a program would write differently, such as `007`.
  /// - Returns: the value, or nil if the text has another form.
  static func reading(text: String, exactly: Bool) -> Self?
}

extension ReadableValue {
  /// Composed types are written as JSON.
  var text: String? { nil }

  /// Composed types are read from JSON.
  static func reading(text: String, exactly: Bool) -> Self? {
    JSONValue(exactly: text).flatMap { reading($0) }
  }
}

// MARK: - Whole numbers and truth values

extension ReadableValue where Self: FixedWidthInteger {
  var json: JSONValue { .number("\(self)") }
  var text: String? { "\(self)" }

  static func reading(_ json: JSONValue) -> Self? {
    // JSON has -0, which is no whole number.
    if case .number(let digits) = json { reading(text: digits, exactly: true) } else { nil }
  }

  static func reading(text: String, exactly: Bool) -> Self? {
    guard let value = Self(text), !exactly || "\(value)" == text else { return nil }
    return value
  }
}

extension Int: ReadableValue {}
extension Int8: ReadableValue {}
extension Int16: ReadableValue {}
extension Int32: ReadableValue {}
extension Int64: ReadableValue {}
extension UInt: ReadableValue {}
extension UInt8: ReadableValue {}
extension UInt16: ReadableValue {}
extension UInt32: ReadableValue {}
extension UInt64: ReadableValue {}

extension Bool: ReadableValue {
  var json: JSONValue { .bool(self) }
  var text: String? { "\(self)" }

  static func reading(_ json: JSONValue) -> Bool? {
    if case .bool(let value) = json { value } else { nil }
  }

  static func reading(text: String, exactly: Bool) -> Bool? { words[text.lowercased()] }

  private static let words = [
    "true": true, "yes": true, "1": true, "on": true,
    "false": false, "no": false, "0": false, "off": false,
  ]
}

// MARK: - Other numbers

/// A binary floating-point number whose bits can be written.
protocol ReadableFloat: ReadableValue, BinaryFloatingPoint, LosslessStringConvertible {
  associatedtype Bits: FixedWidthInteger
  var bitPattern: Bits { get }
  init(bitPattern: Bits)
  /// The number of significant digits that identify every value.
  static var identifyingDigits: Int { get }
}

extension ReadableFloat {
  /// A number; text if JSON has no such number.
  var json: JSONValue { isFinite ? .number("\(self)") : .string(FloatText.text(self)) }
  var text: String? { FloatText.text(self) }

  static func reading(_ json: JSONValue) -> Self? {
    switch json {
    case .number(let digits): JSONNumber.value(digits)
    case .string(let text): FloatText.value(text).flatMap { $0.isFinite ? nil : $0 }
    default: nil
    }
  }

  static func reading(text: String, exactly: Bool) -> Self? {
    guard exactly else { return FloatText.value(text) }
    if case .number(let digits)? = JSONValue(exactly: text) { return JSONNumber.value(digits) }
    return FloatText.value(text).flatMap { FloatText.text($0) == text ? $0 : nil }
  }
}

extension Double: ReadableFloat {
  static let identifyingDigits = 17
}
extension Float: ReadableFloat {
  static let identifyingDigits = 9
}

extension Decimal: ReadableValue {
  private static let notANumber = "NaN"

  var json: JSONValue { .string(description) }
  var text: String? { description }

  static func reading(_ json: JSONValue) -> Decimal? {
    switch json {
    case .number(let text), .string(let text): reading(text: text, exactly: true)
    default: nil
    }
  }

  static func reading(text: String, exactly: Bool) -> Decimal? {
    if text == notANumber { return .nan }
    guard isNumber(text),
      let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")),
      !value.isNaN
    else { return nil }
    // Foundation cuts digits that a Decimal does not hold.
    let (written, read) = (DecimalDigits(text), DecimalDigits(value.description))
    return written == read || written.digits.isEmpty && read.digits.isEmpty ? value : nil
  }

  /// Whether the text is a number alone: Foundation would also accept a number that is followed by
  /// other text.
  private static func isNumber(_ text: String) -> Bool {
    let parts = text.split(omittingEmptySubsequences: false) { "eE".contains($0) }
    guard parts.count <= 2, let number = parts.first else { return false }
    let digits = (number.hasPrefix("-") ? number.dropFirst() : number)
      .split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    return digits.allSatisfy { isDigits($0) }
      && parts.dropFirst().allSatisfy {
        isDigits($0.hasPrefix("-") || $0.hasPrefix("+") ? $0.dropFirst() : $0)
      }
  }

  private static func isDigits(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }
}

// MARK: - Text, and what is written as text

extension String: ReadableValue {
  var json: JSONValue { .string(self) }
  var text: String? { self }

  static func reading(_ json: JSONValue) -> String? { json.string }
  static func reading(text: String, exactly: Bool) -> String? { text }
}

/// A type whose only form in JSON is its text.
protocol ReadableText: ReadableValue {}

extension ReadableValue where Self: ReadableText {
  var json: JSONValue { .string(text ?? "") }

  static func reading(_ json: JSONValue) -> Self? {
    json.string.flatMap { reading(text: $0, exactly: true) }
  }
}

extension URL: ReadableText {
  var text: String? { absoluteString }

  static func reading(text: String, exactly: Bool) -> URL? {
    // Foundation escapes invalid characters of a URL, which would change the text.
    URL(string: text).flatMap { $0.absoluteString == text ? $0 : nil }
  }
}

extension UUID: ReadableText {
  var text: String? { uuidString }

  static func reading(text: String, exactly: Bool) -> UUID? { UUID(uuidString: text) }
}

/// Base64; `get` and `set --type data` leave data unchanged and do not come here.
extension Data: ReadableValue {
  var json: JSONValue { .string(base64EncodedString()) }

  static func reading(_ json: JSONValue) -> Data? {
    json.string.flatMap { reading(text: $0, exactly: true) }
  }

  static func reading(text: String, exactly: Bool) -> Data? {
    Data(base64Encoded: text).flatMap { $0.base64EncodedString() == text ? $0 : nil }
  }
}

extension Date: ReadableValue {
  /// The seconds since 2001; text if they are not a number in JSON.
  var json: JSONValue { timeIntervalSinceReferenceDate.json }
  var text: String? { DateText.text(self) }

  static func reading(_ json: JSONValue) -> Date? {
    json.string.flatMap { DateText.date($0) }
      ?? Double.reading(json).map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  static func reading(text: String, exactly: Bool) -> Date? { DateText.date(text) }
}

extension JSONValue {
  /// Parses the text as JSON; nil if it is not JSON.
  init?(exactly text: String) {
    do { self = try JSONReader.value(of: text) } catch { return nil }
  }
}
