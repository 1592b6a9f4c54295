internal import Foundation
internal import StorageCore

/// Converts values between the types of a storage and JSON.
///
/// A value with a JSON form is written in that form. Any other value is an object of `$type`, the type in
/// Swift's notation, and `$value`.
enum TypedJSON {
  static let typeName = "$type"
  static let valueName = "$value"

  static func tagged(_ type: String, _ value: JSONValue) -> JSONValue {
    .object([(typeName, .string(type)), (valueName, value)])
  }

  // MARK: - To JSON

  /// The value in JSON.
  static func json(of value: Any) -> JSONValue {
    switch value {
    case let value as JSONValue: return value
    case let value as Bool: return .bool(value)
    case let value as any FixedWidthInteger: return .number("\(value)")
    case let value as Double: return number("\(value)", value.isFinite)
    case let value as Float: return number("\(value)", value.isFinite)
    case let value as Date:
      return number("\(value.timeIntervalSinceReferenceDate)", true)
    case let value as Data: return .string(value.base64EncodedString())
    case let values as [Any]: return .array(values.map { json(of: $0) })
    case let values as Set<AnyHashable>:
      return .array(values.map { json(of: $0.base) }.sorted { $0.text < $1.text })
    case let pairs as [String: Any]:
      return .object(
        pairs.sorted { $0.key < $1.key }.map { ($0.key, json(of: $0.value)) })
    case let pairs as [AnyHashable: Any]:
      let entries = pairs.map { JSONValue.array([json(of: $0.base), json(of: $1)]) }
      return .array(entries.sorted { $0.text < $1.text })
    case Optional<Any>.none: return .null
    default: return .string(scalarText(of: value) ?? "")
    }
  }

  /// A number; a string if JSON has no such number.
  private static func number(_ text: String, _ isFinite: Bool) -> JSONValue {
    isFinite ? .number(text) : .string(text)
  }

  /// The text of a scalar, or nil for data and composed values.
  static func scalarText(of value: Any) -> String? {
    switch value {
    case let value as String: value
    case let value as Bool: "\(value)"
    case let value as any FixedWidthInteger: "\(value)"
    case let value as Double: "\(value)"
    case let value as Float: "\(value)"
    case let value as Date:
      value.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    case let value as URL: value.absoluteString
    case let value as UUID: value.uuidString
    case let value as Decimal: value.description
    default: nil
    }
  }

  // MARK: - From JSON

  /// The type that an object names, and its value; nil for any other JSON.
  static func parts(of json: JSONValue) -> (type: String, value: JSONValue)? {
    guard let type = json[typeName]?.string, let value = json[valueName] else { return nil }
    return (type, value)
  }

  /// The type that an object names, in the library's notation; nil for any other JSON.
  static func type(of json: JSONValue) -> String? {
    parts(of: json).map { $0.type == "JSON" ? StoredValue.codableType : Printable.line($0.type) }
  }

  /// The value of a member in a JSON file.
  ///
  /// - Returns: the value, or nil for `null`, which is not a value.
  static func value(of json: JSONValue, _ name: String) throws -> NewValue? {
    switch json {
    case .null: return nil
    case .bool(let value): return .value(value)
    case .string(let text): return .value(text)
    case .number(let digits): return try number(digits, name)
    case .array: return .json(json)
    case .object:
      guard let (type, value) = parts(of: json) else { return .json(json) }
      if type == "JSON" { return .json(value) }
      guard let type = TypeReader.type(type) else {
        throw Failure(
          .malformedInput, "\(Printable.line(type)) can't be read from JSON", key: name)
      }
      return try self.value(type, value, name)
    }
  }

  private static func value<Value: ReadableValue>(
    _: Value.Type, _ json: JSONValue, _ name: String
  ) throws -> NewValue {
    guard let value = Value.reading(json) else {
      throw Failure(.malformedInput, "the value is not of the type that it names", key: name)
    }
    return .value(value)
  }

  private static func number(_ digits: String, _ name: String) throws -> NewValue {
    if let value = Int(digits) { return .value(value) }
    if let value = UInt(digits) { return .value(value) }
    guard let value = Double(digits), value.isFinite else {  // the reader has already refused it
      throw Failure(.malformedInput, "the number is too large", key: name)
    }
    return .value(value)
  }
}
