internal import Foundation
internal import StorageCore

/// A type of a property that can be read from JSON and from text.
protocol ReadableValue: StorableValue, SendableMetatype {
  /// The value of `json`, in the form that `export` writes, or a date as text; nil for any other form.
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
  static func reading(text: String, exactly: Bool) -> Self? {
    do {
      return reading(try JSONReader.value(of: text))
    } catch {
      return nil  // the text is not JSON
    }
  }
}

// MARK: - Numbers and truth values

extension ReadableValue where Self: FixedWidthInteger {
  static func reading(_ json: JSONValue) -> Self? {
    if case .number(let digits) = json { Self(digits) } else { nil }
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

extension ReadableValue where Self: LosslessStringConvertible & BinaryFloatingPoint {
  static func reading(_ json: JSONValue) -> Self? {
    switch json {
    case .number(let digits): finite(digits)
    case .string(let text): Self(text).flatMap { $0.isFinite ? nil : $0 }  // nan, inf
    default: nil
    }
  }

  static func reading(text: String, exactly: Bool) -> Self? {
    if exactly {
      guard case .number(let digits)? = JSONValue(exactly: text) else { return nil }
      return finite(digits)
    }
    guard let value = Self(text) else { return nil }
    // Only the words for an infinity make one, not a number that is too large.
    return value.isFinite || !text.contains(where: \.isNumber) ? value : nil
  }

  private static func finite(_ digits: String) -> Self? {
    Self(digits).flatMap { $0.isFinite ? $0 : nil }
  }
}

extension Double: ReadableValue {}
extension Float: ReadableValue {}

extension Bool: ReadableValue {
  static func reading(_ json: JSONValue) -> Bool? {
    if case .bool(let value) = json { value } else { nil }
  }

  static func reading(text: String, exactly: Bool) -> Bool? { words[text.lowercased()] }

  private static let words = [
    "true": true, "yes": true, "1": true, "on": true,
    "false": false, "no": false, "0": false, "off": false,
  ]
}

extension Decimal: ReadableValue {
  /// The number of digits that every Decimal can hold.
  private static let digitLimit = 38

  static func reading(_ json: JSONValue) -> Decimal? {
    json.string.flatMap { reading(text: $0, exactly: true) }
  }

  static func reading(text: String, exactly: Bool) -> Decimal? {
    // Foundation would also accept a number that is followed by other text.
    let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
    let parts = digits.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard digits.utf8.count <= digitLimit, parts.allSatisfy({ !$0.isEmpty }),
      digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") })
    else { return nil }
    return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
  }
}

// MARK: - Text, and what is written as text

extension String: ReadableValue {
  static func reading(_ json: JSONValue) -> String? { json.string }
  static func reading(text: String, exactly: Bool) -> String? { text }
}

extension ReadableValue where Self: ReadableText {
  static func reading(_ json: JSONValue) -> Self? {
    json.string.flatMap { reading(text: $0, exactly: true) }
  }
}

/// A type whose only form in JSON is its text.
protocol ReadableText: ReadableValue {}

extension URL: ReadableText {
  static func reading(text: String, exactly: Bool) -> URL? {
    // Foundation escapes invalid characters of a URL, which would change the text.
    URL(string: text).flatMap { $0.absoluteString == text ? $0 : nil }
  }
}

extension UUID: ReadableText {
  static func reading(text: String, exactly: Bool) -> UUID? { UUID(uuidString: text) }
}

/// Base64; `set --type data` stores its input unchanged and does not come here.
extension Data: ReadableText {
  static func reading(text: String, exactly: Bool) -> Data? {
    Data(base64Encoded: text).flatMap { $0.base64EncodedString() == text ? $0 : nil }
  }
}

extension Date: ReadableValue {
  static func reading(_ json: JSONValue) -> Date? {
    switch json {
    case .number(let digits): Double(digits).map { Date(timeIntervalSinceReferenceDate: $0) }
    case .string(let text): reading(text: text, exactly: true)
    default: nil
    }
  }

  static func reading(text: String, exactly: Bool) -> Date? { CalendarText.date(text) }
}

// MARK: - Collections

extension Optional: ReadableValue where Wrapped: ReadableValue {
  static func reading(_ json: JSONValue) -> Wrapped?? {
    if case .null = json { return .some(nil) }
    return Wrapped.reading(json).map { .some($0) }
  }
}

extension Array: ReadableValue where Element: ReadableValue {
  static func reading(_ json: JSONValue) -> [Element]? {
    guard case .array(let values) = json else { return nil }
    let all = values.compactMap { Element.reading($0) }
    return all.count == values.count ? all : nil
  }
}

extension Set: ReadableValue where Element: ReadableValue {
  static func reading(_ json: JSONValue) -> Set<Element>? {
    guard let all = [Element].reading(json) else { return nil }
    let set = Set(all)
    return set.count == all.count ? set : nil
  }
}

extension Dictionary: ReadableValue where Key: ReadableValue, Value: ReadableValue {
  /// An object if the keys are text, else an array of pairs, since keys in JSON are always text.
  static func reading(_ json: JSONValue) -> [Key: Value]? {
    let members: [(JSONValue, JSONValue)]
    switch json {
    case .object(let object) where Key.self == String.self:
      members = object.map { (.string($0), $1) }
    case .array(let pairs) where Key.self != String.self:
      members = pairs.compactMap {
        guard case .array(let pair) = $0, pair.count == 2 else { return nil }
        return (pair[0], pair[1])
      }
      guard members.count == pairs.count else { return nil }
    default: return nil
    }
    var values: [Key: Value] = [:]
    for (key, value) in members {
      guard let key = Key.reading(key), let value = Value.reading(value),
        values.updateValue(value, forKey: key) == nil
      else { return nil }
    }
    return values
  }
}

extension JSONValue {
  /// Parses the text as JSON; nil if it is not JSON.
  init?(exactly text: String) {
    do { self = try JSONReader.value(of: text) } catch { return nil }
  }
}
