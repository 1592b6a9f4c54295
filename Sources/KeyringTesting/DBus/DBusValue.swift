/// A value as D-Bus carries it: the types that the Secret Service uses.
package indirect enum DBusValue: Hashable, Sendable {
  /// A truth value, `b`.
  case boolean(Bool)
  /// A number of 32 bits, `u`.
  case uint32(UInt32)
  /// A number of 64 bits, `t`.
  case uint64(UInt64)
  /// A text, `s`; text after a NUL is dropped.
  case string(String)
  /// The path of an object, `o`; it must be well formed, or the program stops.
  case objectPath(String)
  /// Bytes, `ay`.
  case bytes([UInt8])
  /// Values of one type, given as its signature.
  case array([DBusValue], of: String)
  /// A key and its value, `{..}`, in an array.
  case entry(DBusValue, DBusValue)
  /// Some values, `(..)`.
  case tuple([DBusValue])
  /// A value together with its type, `v`.
  case variant(DBusValue)

  /// Paths of objects, `ao`.
  static func paths(_ paths: some Sequence<String>) -> DBusValue {
    .array(paths.map { .objectPath($0) }, of: "o")
  }

  /// Attributes, `a{ss}`.
  static func attributes(_ attributes: [String: String]) -> DBusValue {
    .array(attributes.map { .entry(.string($0.key), .string($0.value)) }, of: "{ss}")
  }

  /// Properties, `a{sv}`.
  static func properties(_ properties: [String: DBusValue]) -> DBusValue {
    .array(properties.map { .entry(.string($0.key), .variant($0.value)) }, of: "{sv}")
  }

  var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }

  /// The text of a string or a path.
  var text: String? {
    switch self {
    case .string(let text), .objectPath(let text): text
    default: nil
    }
  }

  var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }

  var elements: [DBusValue]? {
    switch self {
    case .array(let elements, of: _), .tuple(let elements): elements
    default: nil
    }
  }

  var paths: [String]? {
    guard case .array(let elements, of: "o") = self else { return nil }
    return elements.compactMap(\.text)
  }

  var attributes: [String: String]? {
    guard case .array(let elements, of: "{ss}") = self else { return nil }
    var attributes: [String: String] = [:]
    for case .entry(.string(let key), .string(let value)) in elements { attributes[key] = value }
    return attributes
  }

  var properties: [String: DBusValue]? {
    guard case .array(let elements, of: "{sv}") = self else { return nil }
    var properties: [String: DBusValue] = [:]
    for case .entry(.string(let key), .variant(let value)) in elements { properties[key] = value }
    return properties
  }

  /// What a variant holds.
  var content: DBusValue? { if case .variant(let value) = self { value } else { nil } }
}
