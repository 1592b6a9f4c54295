internal import Foundation
internal import StorageCore

/// A value of any type, as read from a storage.
struct StoredValue {
  /// The type name for a `Codable` value stored as JSON, whose type this program does not know.
  static let codableType = "Codable as JSON"
  /// The type name for a `Codable` value stored as a property list.
  static let propertyListType = "Codable as property list"

  private enum Content {
    case value(any ReadableValue)
    case json(JSONValue)
    case propertyList(JSONValue)
  }

  /// The type as Swift writes it.
  let type: String
  private let content: Content

  /// The value of a key, or nil if there is none.
  ///
  /// - Throws: `StorageError`: `typeMismatch` for a value that only the application can read.
  init?(_ key: StoreKey, in storage: some Storage) throws {
    guard let summary = try storage.summary(forKey: key) else { return nil }
    type = summary.type.description
    switch type {
    case Self.codableType, Self.propertyListType:
      guard let encoded = try storage.load(EncodedValue.self, forKey: key) else { return nil }
      let json = try encoded.json(of: key)
      content = encoded.coding == .json ? .json(json) : .propertyList(json)
    default:
      guard let stored = try storage.load(AnyStorableValue.self, forKey: key) else { return nil }
      guard let value = stored.value as? any ReadableValue else {
        throw Failure(.unsupported, "the value is stored as \(type), which has no text", key: key)
      }
      content = .value(value)
    }
  }

  /// The bytes that `get` writes.
  ///
  /// Text and data unchanged, other scalars as text, and the rest as JSON.
  var bytes: [UInt8] {
    if isBinary, case .value(let data as Data) = content { return [UInt8](data) }
    return Array((text ?? json.text).utf8)
  }

  /// Whether the bytes are not text.
  var isBinary: Bool { type == "Data" }

  /// The value in JSON; a value without a JSON form is a string.
  var json: JSONValue {
    switch content {
    case .value(let value): value.json
    case .json(let json), .propertyList(let json): json
    }
  }

  /// The text of a scalar, or nil for data and composed values.
  var text: String? { if case .value(let value) = content { value.text } else { nil } }

  /// Text that every program which reads the type reads as this value; nil if there is none.
  ///
  /// The library reads stored text as a number and the like, if the text is exactly one.
  var exactText: String? {
    guard let text else { return nil }
    switch type {
    case "Float", "Double": return text.contains("n") ? nil : text  // inf and nan
    case "Decimal":
      let digits = text.filter(\.isNumber).count
      return digits == 0 || digits > 38 ? nil : text
    case "URL": return URL(string: text)?.scheme == nil ? nil : text
    case "String", "Bool", "UUID": return text
    default: return TypeReader.type(type) is any FixedWidthInteger.Type ? text : nil
    }
  }

  /// JSON that reads back as the same value; it includes the type if plain JSON would lose the
  /// type.
  var exactJSON: JSONValue {
    switch content {
    case .value(let value): return TypedJSON.exact(value)
    case .propertyList(let json): return TypedJSON.tagged(type, json)
    case .json(let json):
      switch json {
      case .object where json[TypedJSON.typeName] == nil, .array: return json
      default: return TypedJSON.tagged("JSON", json)
      }
    }
  }
}

extension EncodedValue {
  /// The value in JSON, with every digit of its numbers.
  ///
  /// - Throws: `Failure` for a value that no encoder of Foundation writes.
  func json(of key: StoreKey) throws -> JSONValue {
    var json: JSONValue?
    switch coding {
    case .json:
      if let text = String(validating: data, as: UTF8.self) {
        json = try JSONReader.value(of: text, names: .any)
      }
    case .propertyList: json = try PropertyListJSON.json(of: data)
    }
    guard let json else {
      throw Failure(.unsupported, "only the application can read the value", key: key)
    }
    return json
  }
}
