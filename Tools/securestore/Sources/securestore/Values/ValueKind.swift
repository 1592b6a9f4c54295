internal import ArgumentParser
internal import CryptoCore
internal import Foundation
internal import StorageCore

/// The type to store a value as: the type that `--type` names, or the stored one.
enum ValueKind: ExpressibleByArgument {
  case type(any ReadableValue.Type)
  /// A `Codable` type of an application.
  case json
  /// The same, stored by the application as a property list.
  case propertyList

  static let string = ValueKind.type(String.self)

  private static let words: [(String, ValueKind)] = [
    ("string", string), ("int", .type(Int.self)), ("double", .type(Double.self)),
    ("bool", .type(Bool.self)), ("data", .type(Data.self)), ("date", .type(Date.self)),
    ("url", .type(URL.self)), ("uuid", .type(UUID.self)), ("decimal", .type(Decimal.self)),
    ("list", .type([String].self)), ("dictionary", .type([String: String].self)), ("json", .json),
  ]

  static var allValueStrings: [String] { words.map(\.0) }
  static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }

  init?(argument: String) {
    if let known = Self.words.first(where: { $0.0 == argument.lowercased() }) {
      self = known.1
    } else if let type = TypeReader.type(argument) {
      self = .type(type)
    } else {
      return nil
    }
  }

  /// The kind of a stored type, by the library's name for it; nil for a type that only the
  /// application can write.
  init?(stored type: String) {
    switch type {
    case StoredValue.codableType: self = .json
    case StoredValue.propertyListType: self = .propertyList
    default:
      guard let type = TypeReader.type(type) else { return nil }
      self = .type(type)
    }
  }

  /// The library's name for the type.
  var name: String {
    switch self {
    case .type(let type): Self.name(of: type)
    case .json: StoredValue.codableType
    case .propertyList: StoredValue.propertyListType
    }
  }

  private static func name<Value: ReadableValue>(of _: Value.Type) -> String {
    Value.valueType.description
  }

  /// Whether it is not a `Codable` type.
  var hasOwnForm: Bool { if case .type = self { true } else { false } }
  var isText: Bool { if case .type(let type) = self { type == String.self } else { false } }
  var isData: Bool { if case .type(let type) = self { type == Data.self } else { false } }

  /// A description of such a value, for a user who gave something else.
  var title: String {
    switch self {
    case .json: "JSON"
    case .propertyList: "JSON that a property list can hold"
    case .type(let type) where type is any FixedWidthInteger.Type:
      "a whole number that fits \(name)"
    case .type(let type): Self.titles[Self.name(of: type)] ?? "JSON of the type \(name)"
    }
  }

  private static let titles = [
    "String": "text",
    "Double": "a number that a Double holds, a whole number exactly",
    "Float": "a number that a Float holds, a whole number exactly",
    "Bool": "true or false", "Data": "data in Base64",
    "Date": "a date as 2026-11-24T05:05:00Z", "URL": "a URL", "UUID": "a UUID",
    "Decimal": "a number that a Decimal holds exactly",
    "[String]": "a JSON array of text", "[String: String]": "a JSON object of text",
  ]
}
