internal import Foundation
internal import StorageCore

/// Reads the name of a type, such as `[String: Int]`, in Swift's notation, as `list --long` shows
/// it.
struct TypeReader {
  private var rest: Substring

  /// The type of that name; nil if it is unknown or can't be read from JSON or text.
  static func type(_ name: String) -> (any ReadableValue.Type)? {
    if let type = anyTypes[name] { return type }
    var reader = TypeReader(rest: name[...])
    guard let type = reader.type(depth: 0), reader.rest.isEmpty else { return nil }
    return type
  }

  /// The largest depth of nested types that the library accepts.
  private static let depthLimit = 32

  private mutating func take(_ text: String) -> Bool {
    guard rest.hasPrefix(text) else { return false }
    rest = rest.dropFirst(text.count)
    return true
  }

  private mutating func type(depth: Int) -> (any ReadableValue.Type)? {
    guard depth < Self.depthLimit, var type = plainType(depth: depth) else { return nil }
    var depth = depth
    while take("?") {
      depth += 1
      guard depth < Self.depthLimit else { return nil }
      type = Self.optional(type)
    }
    return type
  }

  private mutating func plainType(depth: Int) -> (any ReadableValue.Type)? {
    if take("Set<") {
      guard let part = type(depth: depth + 1), take(">") else { return nil }
      return (part as? any (ReadableValue & Hashable).Type).map { Self.set($0) }
    }
    // What "\(Value.self)" gives, which catalogs of declared keys have.
    if take("Array<") {
      guard let part = type(depth: depth + 1), take(">") else { return nil }
      return Self.array(part)
    }
    if take("Optional<") {
      guard let part = type(depth: depth + 1), take(">") else { return nil }
      return Self.optional(part)
    }
    if take("Dictionary<") {
      guard let part = type(depth: depth + 1), take(", "), let value = type(depth: depth + 1),
        take(">")
      else { return nil }
      return (part as? any (ReadableValue & Hashable).Type).map { Self.dictionary($0, value) }
    }
    if take("[") {
      guard let part = type(depth: depth + 1) else { return nil }
      if take("]") { return Self.array(part) }
      guard take(":") else { return nil }
      _ = take(" ")
      guard let value = type(depth: depth + 1), take("]") else { return nil }
      return (part as? any (ReadableValue & Hashable).Type).map { Self.dictionary($0, value) }
    }
    let name = rest.prefix { $0.isLetter || $0.isNumber }
    rest = rest.dropFirst(name.count)
    return Self.scalars[String(name)]
  }

  private static func optional<Part: ReadableValue>(_: Part.Type) -> any ReadableValue.Type {
    Part?.self
  }

  private static func array<Part: ReadableValue>(_: Part.Type) -> any ReadableValue.Type {
    [Part].self
  }

  private static func set<Part: ReadableValue & Hashable>(_: Part.Type) -> any ReadableValue.Type {
    Set<Part>.self
  }

  private static func dictionary<Key: ReadableValue & Hashable>(
    _: Key.Type, _ value: any ReadableValue.Type
  ) -> any ReadableValue.Type {
    func of<Value: ReadableValue>(_: Value.Type) -> any ReadableValue.Type { [Key: Value].self }
    return of(value)
  }

  /// The types whose elements have types of their own; they are no parts of others.
  private static let anyTypes: [String: any ReadableValue.Type] = [
    "[Any]": [AnyStorableValue].self, "Set<Any>": Set<AnyStorableValue>.self,
    "[String: Any]": [String: AnyStorableValue].self,
  ]

  /// The types that are not composed of others.
  static let scalars: [String: any ReadableValue.Type] = [
    "Bool": Bool.self, "Int": Int.self, "Int8": Int8.self, "Int16": Int16.self,
    "Int32": Int32.self, "Int64": Int64.self, "UInt": UInt.self, "UInt8": UInt8.self,
    "UInt16": UInt16.self, "UInt32": UInt32.self, "UInt64": UInt64.self, "Double": Double.self,
    "Float": Float.self, "Date": Date.self, "String": String.self, "Data": Data.self,
    "URL": URL.self, "UUID": UUID.self, "Decimal": Decimal.self,
  ]
}
