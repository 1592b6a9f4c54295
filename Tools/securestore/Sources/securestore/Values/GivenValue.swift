internal import CryptoCore
internal import Foundation
internal import StorageCore

/// A value from the user, before it gets the type that it is stored as.
enum GivenValue {
  /// Piped or typed bytes, and the part of them that is the text.
  case bytes(SecureBytes, text: SecureBytes)
  /// A value of a dotenv file.
  case text(String)
  /// A value of a JSON file; an object of `$type` and `$value` names its type.
  case json(JSONValue)
  /// A scalar of a YAML file without quotes: as text, it is what the file has.
  case plain(PlainScalar)

  /// The type that it would be stored as by default, for people.
  var ownType: String {
    switch self {
    case .bytes, .text, .json(.string): "String"
    case .json(.bool): "Bool"
    case .json(.number(let digits)): Int(digits) == nil && UInt(digits) == nil ? "Double" : "Int"
    case .json(let json): TypedJSON.type(of: json) ?? json.title
    case .plain(let scalar):
      switch scalar.value {
      case .success(let json): GivenValue.json(json).ownType
      case .failure: "String"
      }
    }
  }

  /// The value with its own type; nil for `null`, which is not a value.
  ///
  /// - Throws: `Failure` for input that is not a value, or not of the type that it names.
  func asItIs(_ name: String) throws -> NewValue? {
    switch self {
    case .bytes: try value(of: .string, exactly: false, name)
    case .text(let text): .value(text)
    case .json(let json): try TypedJSON.value(of: json, name)
    case .plain(let scalar): try TypedJSON.value(of: try scalar.value.get(), name)
    }
  }

  /// The value converted to a type.
  ///
  /// - Parameters:
  ///   - kind: the type.
  ///   - exactly: whether to convert only text that a program would write in the same way.
  ///   - name: the value's name, for errors.
  ///   - old: the stored JSON, whose form the new JSON must have; nil for any form.
  /// - Returns: the value, or nil if it does not convert to the type.
  /// - Throws: `Failure` that quotes nothing from the value.
  func value(
    of kind: ValueKind, exactly: Bool, _ name: String, like old: JSONValue? = nil
  ) throws -> NewValue? {
    switch self {
    case .bytes(let bytes, let line):
      if kind.isData { return .value(Data(bytes.array)) }
      guard let text = line.text else {
        throw Failure(
          .malformedInput, "the value is not UTF-8; store it with --type data", key: name)
      }
      if case .type = kind { return try Self.value(text, kind, exactly, old) }
      guard exactly else { return kind.new(try JSONReader.value(of: text)) }
      return try Self.value(text, kind, exactly, old)
    case .text(let text): return try Self.value(text, kind, exactly, old)
    case .json(let json): return try Self.value(json, kind, exactly, name, old)
    case .plain(let scalar):
      if kind.isText { return .value(scalar.text) }
      return try Self.value(try scalar.value.get(), kind, exactly, name, old)
    }
  }

  private static func value(
    _ text: String, _ kind: ValueKind, _ exactly: Bool, _ old: JSONValue?
  ) throws -> NewValue? {
    switch kind {
    case .type(let type):
      let isText = type == String.self
      return read(
        type, isText ? text : text.trimmingCharacters(in: .whitespacesAndNewlines), exactly)
    case .json, .propertyList:
      if let json = JSONValue(exactly: text), let new = kind.new(json, like: old) { return new }
      return old?.string == nil ? nil : kind.new(.string(text))
    }
  }

  private static func read<Value: ReadableValue>(
    _: Value.Type, _ text: String, _ exactly: Bool
  ) -> NewValue? {
    Value.reading(text: text, exactly: exactly).map { .value($0) }
  }

  private static func value(
    _ json: JSONValue, _ kind: ValueKind, _ exactly: Bool, _ name: String, _ old: JSONValue?
  ) throws -> NewValue? {
    if let (type, inner) = TypedJSON.parts(of: json) {
      // The value must match the type that it names, before it is converted to another type.
      let named = try TypedJSON.value(of: json, name)
      if type == kind.name { return named }
      // Dates in seconds, Base64 and property lists do not convert to other types.
      let isEncoded = ["Date", "Data", StoredValue.propertyListType].contains(type)
      return isEncoded ? nil : try scalar(inner, kind, exactly, old)
    }
    if case .number = json, case .type(let type) = kind, type == Date.self { return nil }
    return try scalar(json, kind, exactly, old)
  }

  private static func scalar(
    _ json: JSONValue, _ kind: ValueKind, _ exactly: Bool, _ old: JSONValue?
  ) throws -> NewValue? {
    guard case .type(let type) = kind else { return kind.new(json, like: old) }
    if let value = read(type, json) { return value }
    switch json {
    case .string(let text): return try value(text, kind, exactly, old)
    case .number(let digits): return try value(digits, kind, exactly, old)
    case .bool(let value): return kind.isText ? .value("\(value)") : nil
    default: return nil
    }
  }

  private static func read<Value: ReadableValue>(_: Value.Type, _ json: JSONValue) -> NewValue? {
    Value.reading(json).map { .value($0) }
  }
}

extension ValueKind {
  /// The JSON as a new value; nil if its form differs from that of the stored value.
  fileprivate func new(_ json: JSONValue, like old: JSONValue? = nil) -> NewValue? {
    guard old.map({ $0.form == json.form }) ?? true else { return nil }
    if case .propertyList = self {
      return PropertyListJSON.data(of: json).map { .propertyList($0) }
    }
    return .json(json)
  }
}

extension JSONValue {
  /// The name of a `Codable` value of this form.
  var title: String {
    let word =
      switch self {
      case .null: "null"
      case .bool: "true or false"
      case .number: "a number"
      case .string: "text"
      case .array: "an array"
      case .object: "an object"
      }
    return "\(StoredValue.codableType), \(word)"
  }

  /// A number for each kind of JSON.
  fileprivate var form: Int {
    switch self {
    case .null: 0
    case .bool: 1
    case .number: 2
    case .string: 3
    case .array: 4
    case .object: 5
    }
  }
}
