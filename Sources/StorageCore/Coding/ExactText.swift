package import FoundationEssentials

/// A type that is also read from stored text, if the text is exactly one of its values.
///
/// `securestore set` and `import` store text, since a file of settings has no types. One rule holds
/// for all properties and calls that read such a type, and for `SecureConfiguration`: no spaces, no
/// value outside the type's range, no digits that the type would drop. Any other text is
/// `typeMismatch`. A type with a raw value is read as its raw value is.
package protocol ExactlyReadable {
  /// The value of a text; nil unless the text is exactly one of the type's values.
  init?(exactText text: String)
}

extension ExactlyReadable where Self: FixedWidthInteger {
  /// Reads decimal digits, which may follow a sign.
  package init?(exactText text: String) { self.init(text, radix: 10) }
}

extension Int: ExactlyReadable {}
extension Int8: ExactlyReadable {}
extension Int16: ExactlyReadable {}
extension Int32: ExactlyReadable {}
extension Int64: ExactlyReadable {}
extension UInt: ExactlyReadable {}
extension UInt8: ExactlyReadable {}
extension UInt16: ExactlyReadable {}
extension UInt32: ExactlyReadable {}
extension UInt64: ExactlyReadable {}

extension Bool: ExactlyReadable {
  /// Reads true, yes and 1, or false, no and 0, in letters of any case.
  package init?(exactText text: String) {
    switch text.lowercased() {
    case "true", "yes", "1": self = true
    case "false", "no", "0": self = false
    default: return nil
    }
  }
}

extension ExactlyReadable where Self: BinaryFloatingPoint & LosslessStringConvertible {
  /// Reads a decimal number, with or without an exponent.
  ///
  /// A fraction becomes the nearest value, as in Swift's source. A whole number must be held
  /// exactly. Text of a number outside the range would become infinite or zero, so it is refused.
  package init?(exactText text: String) {
    guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }) else { return nil }
    if !text.utf8.contains(where: { ".eE".utf8.contains($0) }) {
      guard let whole = Int128(text), let value = Self(exactly: whole) else { return nil }
      self = value
      return
    }
    guard let value = Self(text), value.isFinite else { return nil }
    let digits = text.prefix { $0 != "e" && $0 != "E" }
    guard value != 0 || !digits.contains(where: { ("1"..."9").contains($0) }) else { return nil }
    self = value
  }
}

extension Double: ExactlyReadable {}
extension Float: ExactlyReadable {}

extension Decimal: ExactlyReadable {
  /// Reads a decimal number of up to 38 digits, which `Decimal` holds exactly.
  package init?(exactText text: String) {
    let unsigned = text.hasPrefix("-") || text.hasPrefix("+") ? text.dropFirst() : text[...]
    let parts = unsigned.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    let areDigits = parts.allSatisfy { part in
      !part.isEmpty && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
    guard areDigits, unsigned.utf8.count <= 39, parts.joined().utf8.count <= 38,
      let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")), !value.isNaN
    else { return nil }
    self = value
  }
}

extension URL: ExactlyReadable {
  /// Reads an absolute URL that Foundation leaves as it is.
  package init?(exactText text: String) {
    guard let url = URL(string: text), url.scheme != nil, url.absoluteString == text else {
      return nil
    }
    self = url
  }
}

extension UUID: ExactlyReadable {
  /// Reads the form of `uuidString`, in letters of any case.
  package init?(exactText text: String) { self.init(uuidString: text) }
}

/// Reads stored text as another type.
enum ExactText {
  /// The value of stored text, for a type that is read from exact text.
  ///
  /// - Parameters:
  ///   - _: the type.
  ///   - bytes: a payload.
  ///   - offset: where its type begins; moved past the value if there is one.
  /// - Returns: the value; nil if no text is stored, or the text is not exactly such a value.
  /// - Throws: `StorageError` with `damaged` for text that is not legal.
  static func read<Value>(
    _: Value.Type, _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> Value? {
    guard let type = Value.self as? any ExactlyReadable.Type else { return nil }
    var end = offset
    guard String.valueType.matches(bytes, at: &end) else { return nil }
    let text = try String.read(bytes, at: &end)
    guard let value = type.init(exactText: text) as? Value else { return nil }
    offset = end
    return value
  }
}
