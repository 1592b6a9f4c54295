internal import Foundation
internal import StorageCore

/// A value as it was read from a storage, of whatever type.
struct StoredValue {
  /// A `Codable` value that was stored as JSON has no type that this program knows.
  static let codableType = "Codable as JSON"
  /// The same of a value that was stored as a property list.
  static let propertyListType = "Codable as property list"

  /// The type as Swift writes it.
  let type: String
  private let content: Any

  /// The value of a key, or nil when there is none.
  ///
  /// - Throws: `StorageError`: `typeMismatch` for what only the application itself can read.
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
    guard let content else { return nil }  // removed since
    self.content = content
  }

  /// The bytes that `get` writes.
  ///
  /// Text and data as they are, other scalars as text, and the rest as JSON.
  var bytes: [UInt8] {
    if let data = content as? Data { return [UInt8](data) }
    if content is JSONValue { return Array(json.text.utf8) }
    return Array((TypedJSON.scalarText(of: content) ?? json.text).utf8)
  }

  /// Whether the bytes are no text.
  var isBinary: Bool { content is Data }

  /// The value in JSON; what JSON has no form for is a string.
  var json: JSONValue { TypedJSON.json(of: content) }

  /// The text of a scalar, or nil for data and for what is made of parts.
  var text: String? {
    content is JSONValue ? nil : TypedJSON.scalarText(of: content)
  }

  /// The value in JSON, from which the same value is read again: with its type, where JSON alone
  /// would make another of it.
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
