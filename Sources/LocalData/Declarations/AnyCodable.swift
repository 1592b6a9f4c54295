public import struct FoundationEssentials.Data
public import struct FoundationEssentials.Date

/// A value of any of the types that JSON and property lists have, for payloads of mixed types.
///
/// A stored value is read back as the same case. JSON has only one kind of number. So a `Double`
/// without a fraction, a `UInt64` that fits an `Int64`, data and dates are stored as an object with
/// a single key that begins with `$`, such as `{"$double": "2"}`. If an object of the program has
/// such a single key, the key is stored with one more `$`, so that the two are not confused.
public enum AnyCodable: Hashable, Sendable {
  /// No value.
  case null
  /// True or false.
  case bool(Bool)
  /// A signed integer.
  case int(Int64)
  /// An unsigned integer.
  case uint(UInt64)
  /// A number with a fraction, an infinity, or not a number.
  case double(Double)
  /// A text.
  case string(String)
  /// Bytes.
  case data(Data)
  /// A point in time.
  case date(Date)
  /// Values in order.
  case array([AnyCodable])
  /// Values by name.
  case dictionary([String: AnyCodable])

  /// Creates a value from one of the types above, another integer or `Float`, or arrays and
  /// dictionaries of these.
  ///
  /// Nil for any other type, and for an integer of more than 64 bits.
  ///
  /// - Parameter value: the value; an `AnyCodable` is used unchanged.
  public init?(_ value: Any) {
    switch value {
    case let value as AnyCodable: self = value
    case let value as Bool: self = .bool(value)
    case let value as String: self = .string(value)
    case let value as Data: self = .data(value)
    case let value as Date: self = .date(value)
    case let value as Double: self = .double(value)
    case let value as Float: self = .double(Double(value))
    case let value as any SignedInteger & FixedWidthInteger:
      guard let value = Int64(exactly: value) else { return nil }
      self = .int(value)
    case let value as any UnsignedInteger & FixedWidthInteger:
      guard let value = UInt64(exactly: value) else { return nil }
      self = .uint(value)
    case let values as [Any]:
      var items: [AnyCodable] = []
      for value in values {
        guard let item = AnyCodable(value) else { return nil }
        items.append(item)
      }
      self = .array(items)
    case let values as [String: Any]:
      var items: [String: AnyCodable] = [:]
      for (name, value) in values {
        guard let item = AnyCodable(value) else { return nil }
        items[name] = item
      }
      self = .dictionary(items)
    default: return nil
    }
  }

  /// The value as a Swift type: `Int64` and the like, `[Any]`, `[String: Any]`; nil for null.
  public var value: Any? {
    switch self {
    case .null: nil
    case .bool(let value): value
    case .int(let value): value
    case .uint(let value): value
    case .double(let value): value
    case .string(let value): value
    case .data(let value): value
    case .date(let value): value
    case .array(let values): values.map { $0.value as Any }
    case .dictionary(let values): values.mapValues { $0.value as Any }
    }
  }
}

extension AnyCodable: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Null.
  public init(nilLiteral: ()) { self = .null }
  /// True or false.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// A signed integer.
  public init(integerLiteral value: Int64) { self = .int(value) }
  /// A number with a fraction.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// A text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Values in their order.
  public init(arrayLiteral elements: AnyCodable...) { self = .array(elements) }
  /// Values by name; if a name repeats, the last value counts.
  public init(dictionaryLiteral elements: (String, AnyCodable)...) {
    self = .dictionary(Dictionary(elements) { $1 })
  }
}
