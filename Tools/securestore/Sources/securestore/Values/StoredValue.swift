internal import Foundation
internal import StorageCore

/// A value of any type, as read from a storage.
struct StoredValue {
  /// The type name for a `Codable` value stored as JSON, whose type this program does not know.
  static let codableType = "Codable as JSON"
  /// The type name for a `Codable` value stored as a property list.
  static let propertyListType = "Codable as property list"

  /// The type as Swift writes it.
  let type: String
  private let content: Any

  /// The value of a key, or nil if there is none.
  ///
  /// - Throws: `StorageError`: `typeMismatch` for a value that only the application can read.
  init?(_ key: StoreKey, in storage: some Storage) throws {
    guard let summary = try storage.summary(forKey: key) else { return nil }
    type = summary.type.description
    let content: Any?
    switch type {
    case Self.codableType: content = try storage.load(JSONValue.self, forKey: key)
    case Self.propertyListType:
      content = try CodableStore<JSONValue, _>(storage, key, coding: .propertyList).load()
    default: content = try storage.load(Any.self, forKey: key)
    }
    guard let content else { return nil }  // removed meanwhile
    self.content = content
  }

  /// The bytes that `get` writes.
  ///
  /// Text and data unchanged, other scalars as text, and the rest as JSON.
  var bytes: [UInt8] {
    if let data = content as? Data { return [UInt8](data) }
    if content is JSONValue { return Array(json.text.utf8) }
    return Array((TypedJSON.scalarText(of: content) ?? json.text).utf8)
  }

  /// Whether the bytes are not text.
  var isBinary: Bool { content is Data }

  /// The value in JSON; a value without a JSON form is a string.
  var json: JSONValue { TypedJSON.json(of: content) }

  /// The text of a scalar, or nil for data and composed values.
  var text: String? {
    content is JSONValue ? nil : TypedJSON.scalarText(of: content)
  }

  /// JSON that reads back as the same value; it includes the type if plain JSON would lose the type.
  var exactJSON: JSONValue {
    switch content {
    case let text as String: return .string(text)
    case let value as Bool where type == "Bool": return .bool(value)
    case is Int where type == "Int": return json
    case let value as Double where type == "Double" && value.isFinite: return json
    case let value as JSONValue:
      switch value {
      case .object where value[TypedJSON.typeName] == nil, .array: return value
      default: return TypedJSON.tagged("JSON", value)
      }
    default: return TypedJSON.tagged(type, json)
    }
  }
}
