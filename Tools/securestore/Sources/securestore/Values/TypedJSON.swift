internal import Foundation
internal import StorageCore

/// JSON that includes the type of a value where plain JSON would lose it.
///
/// A value with a JSON form is written in that form. Any other value is an object of `$type`, the
/// type in Swift's notation, and `$value`.
enum TypedJSON {
  static let typeName = "$type"
  static let valueName = "$value"

  static func tagged(_ type: String, _ value: JSONValue) -> JSONValue {
    .object([(typeName, .string(type)), (valueName, value)])
  }

  /// JSON that is read as a value of the same type.
  static func exact<Value: ReadableValue>(_ value: Value) -> JSONValue {
    let type = Value.valueType.description
    let json = value.json
    return switch (type, json) {
    case ("String", _), ("Bool", _), ("Int", _), ("Double", .number): json
    default: tagged(type, json)
    }
  }

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
    case .number:
      if let value = number(json) { return .value(value) }
      throw Failure(
        .malformedInput,
        "the number is too large or has too many digits to be read back unchanged; make it a string, or "
          + "give its type, as in {\"$type\": \"Decimal\", \"$value\": \"...\"}", key: name)
    case .array: return .json(json)
    case .object:
      guard let (type, value) = parts(of: json) else { return .json(json) }
      switch type {
      case "JSON": return .json(value)
      case StoredValue.propertyListType:
        if let data = PropertyListJSON.data(of: value) { return .propertyList(data) }
        throw mismatch(name)
      default: break
      }
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
    guard let value = Value.reading(json) else { throw mismatch(name) }
    return .value(value)
  }

  private static func mismatch(_ name: String) -> Failure {
    Failure(.malformedInput, "the value is not of the type that it names", key: name)
  }

  /// The number as an Int, a UInt or a Double; nil if it would change.
  static func number(_ json: JSONValue) -> (any ReadableValue)? {
    if let value = Int.reading(json) { return value }
    if let value = UInt.reading(json) { return value }
    return Double.reading(json)
  }
}
