internal import Foundation

/// Reads values whose type is given by name, as in `[String: Int]`.
struct TypeReader {
  private typealias Reader = @Sendable (JSONValue) -> Any?

  private var rest: Substring

  /// The value that `json` is of a type, or nil when it is none of it.
  ///
  /// - Throws: `Failure` for a type that has no form in JSON.
  static func value(of json: JSONValue, type: String, _ key: String) throws -> Any? {
    var reader = TypeReader(rest: type[...])
    guard let type = reader.type(), reader.rest.isEmpty else {
      throw Failure(
        .malformedInput, "\(Printable.line(type)) is no type that is read from JSON", key: key)
    }
    return type.value(json)
  }

  /// A type, and how a value of it is read; nil is "not of this type".
  private indirect enum Shape {
    case scalar(Reader)
    case optional(Shape)
    case array(Shape)
    case set(Shape)
    case dictionary(Shape)

    func value(_ json: JSONValue) -> Any? {
      switch (self, json) {
      case (.scalar(let read), _): return read(json)
      case (.optional, .null): return Optional<Any>.none as Any
      case (.optional(let shape), _): return shape.value(json)
      case (.array(let shape), .array(let values)): return Self.all(shape, values)
      case (.set(let shape), .array(let values)):
        guard let all = Self.all(shape, values) else { return nil }
        let hashable = all.compactMap { $0 as? AnyHashable }
        return hashable.count == all.count ? Set(hashable) : nil
      case (.dictionary(let shape), .object(let members)):
        var pairs: [String: Any] = [:]
        for (name, json) in members {
          guard let value = shape.value(json) else { return nil }
          pairs[name] = value
        }
        return pairs
      default: return nil
      }
    }

    private static func all(_ shape: Shape, _ values: [JSONValue]) -> [Any]? {
      let all = values.compactMap { shape.value($0) }
      guard all.count == values.count else { return nil }
      // What is most often stored keeps its own type, and not that of an array of anything.
      return all as? [String] ?? all
    }
  }

  private mutating func take(_ text: String) -> Bool {
    guard rest.hasPrefix(text) else { return false }
    rest = rest.dropFirst(text.count)
    return true
  }

  private mutating func type() -> Shape? {
    guard var shape = plainType() else { return nil }
    while take("?") { shape = .optional(shape) }
    return shape
  }

  private mutating func plainType() -> Shape? {
    if take("Set<") {
      guard let part = type(), take(">") else { return nil }
      return .set(part)
    }
    if take("[") {
      if take("String: ") {
        guard let part = type(), take("]") else { return nil }
        return .dictionary(part)
      }
      guard let part = type(), take("]") else { return nil }
      return .array(part)
    }
    let name = rest.prefix { $0.isLetter || $0.isNumber }
    guard let read = Self.scalars[String(name)] else { return nil }
    rest = rest.dropFirst(name.count)
    return .scalar(read)
  }

  private static func integer<Value: FixedWidthInteger & SendableMetatype>(_: Value.Type) -> Reader
  {
    { json in if case .number(let digits) = json { Value(digits) } else { nil } }
  }

  private static func text(_ read: @escaping @Sendable (String) -> Any?) -> Reader {
    { json in json.string.flatMap(read) }
  }

  private static func real(_ json: JSONValue) -> Double? {
    switch json {
    case .number(let digits): Double(digits)
    case .string(let text): Double(text)  // nan, inf
    default: nil
    }
  }

  private static let scalars: [String: Reader] = [
    "Bool": { json in if case .bool(let value) = json { value } else { nil } },
    "Int": integer(Int.self), "Int8": integer(Int8.self), "Int16": integer(Int16.self),
    "Int32": integer(Int32.self), "Int64": integer(Int64.self), "UInt": integer(UInt.self),
    "UInt8": integer(UInt8.self), "UInt16": integer(UInt16.self), "UInt32": integer(UInt32.self),
    "UInt64": integer(UInt64.self),
    "Double": { real($0) },
    "Float": { json in real(json).map { Float($0) } },
    "Date": { json in real(json).map { Date(timeIntervalSinceReferenceDate: $0) } },
    "String": text { $0 },
    "Data": text { Data(base64Encoded: $0) },
    "URL": text { URL(string: $0) },
    "UUID": text { UUID(uuidString: $0) },
    "Decimal": text { Decimal(string: $0, locale: Locale(identifier: "en_US_POSIX")) },
  ]
}
