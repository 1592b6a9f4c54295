internal import Foundation
internal import StorageCore

extension Optional: JSONConvertible where Wrapped: JSONConvertible {
  /// `null`, or the value; an optional in an optional is an array around it, so that its `null`
  /// differs.
  var json: JSONValue {
    guard let value = self else { return .null }
    return Wrapped.self is any OptionalValue.Type ? .array([value.json]) : value.json
  }
}

extension Optional: ReadableValue where Wrapped: ReadableValue {
  /// The value's own text if that reads back as the same, else JSON.
  var text: String? {
    let json = json.text
    guard let plain = self?.text,
      let read = Self.reading(
        text: plain.trimmingCharacters(in: .whitespacesAndNewlines), exactly: true)
    else { return json }
    return read.json.text == json ? plain : json
  }

  static func reading(_ json: JSONValue) -> Wrapped?? {
    switch json {
    case .null: .some(nil)
    case .array(let values) where Wrapped.self is any OptionalValue.Type:
      values.count == 1 ? Wrapped.reading(values[0]).map { .some($0) } : nil
    default:
      Wrapped.self is any OptionalValue.Type ? nil : Wrapped.reading(json).map { .some($0) }
    }
  }

  static func reading(text: String, exactly: Bool) -> Wrapped?? {
    switch JSONValue(exactly: text) {
    case let json? where json.isTextOrList || json.isNull:
      if let value = reading(json) { return value }
    default: break
    }
    return Wrapped.reading(text: text, exactly: exactly).map { .some($0) }
  }
}

/// Tells optionals from other types.
private protocol OptionalValue {}
extension Optional: OptionalValue {}

extension JSONValue {
  fileprivate var isNull: Bool { if case .null = self { true } else { false } }

  /// Whether it is JSON that a value's own text never is, apart from a `String`.
  fileprivate var isTextOrList: Bool {
    switch self {
    case .string, .array: true
    default: false
    }
  }
}

extension Array: JSONConvertible where Element: JSONConvertible {
  var json: JSONValue { .array(map(\.json)) }
}

extension Array: ReadableValue where Element: ReadableValue {
  static func reading(_ json: JSONValue) -> [Element]? {
    guard case .array(let values) = json else { return nil }
    let all = values.compactMap { Element.reading($0) }
    return all.count == values.count ? all : nil
  }
}

extension Set: JSONConvertible where Element: JSONConvertible {
  /// An array in the order of its texts.
  var json: JSONValue { .array(map(\.json).sortedByText) }
}

extension Set: ReadableValue where Element: ReadableValue {
  static func reading(_ json: JSONValue) -> Set<Element>? {
    guard let all = [Element].reading(json) else { return nil }
    let set = Set(all)
    return set.count == all.count ? set : nil
  }
}

extension Dictionary: JSONConvertible where Key: JSONConvertible, Value: JSONConvertible {
  /// An object if the keys are text, else an array of pairs, since keys in JSON are always text.
  var json: JSONValue {
    // An empty dictionary can be cast to any other.
    if Key.self == String.self, let pairs = self as? [String: Value] {
      return .object(pairs.sorted { $0.key < $1.key }.map { ($0.key, $0.value.json) })
    }
    return .array(map { JSONValue.array([$0.key.json, $0.value.json]) }.sortedByText)
  }
}

extension Dictionary: ReadableValue where Key: ReadableValue, Value: ReadableValue {
  static func reading(_ json: JSONValue) -> [Key: Value]? {
    let members: [(JSONValue, JSONValue)]
    switch json {
    case .object(let object) where Key.self == String.self:
      members = object.map { (.string($0), $1) }
    case .array(let pairs) where Key.self != String.self:
      members = pairs.compactMap {
        guard case .array(let pair) = $0, pair.count == 2 else { return nil }
        return (pair[0], pair[1])
      }
      guard members.count == pairs.count else { return nil }
    default: return nil
    }
    var values: [Key: Value] = [:]
    for (key, value) in members {
      guard let key = Key.reading(key), let value = Value.reading(value),
        values.updateValue(value, forKey: key) == nil
      else { return nil }
    }
    return values
  }
}

extension [JSONValue] {
  fileprivate var sortedByText: [JSONValue] {
    map { ($0, $0.text) }.sorted { $0.1 < $1.1 }.map(\.0)
  }
}

/// An element of `[Any]`, `Set<Any>` or `[String: Any]`, in JSON that names its type where it must.
extension AnyStorableValue: ReadableValue {
  var json: JSONValue {
    // The library makes such a value from the types that it reads, all of which are readable here.
    guard let value = value as? any ReadableValue else { return .null }
    let json = value.json
    switch type.description {
    case "[Any]": return json
    case "[String: Any]" where json[TypedJSON.typeName] == nil: return json
    default: return TypedJSON.exact(value)
    }
  }

  static func reading(_ json: JSONValue) -> AnyStorableValue? {
    guard let value = element(json) else { return nil }
    do throws(StorageError) { return try AnyStorableValue(value) } catch { return nil }
  }

  private static func element(_ json: JSONValue) -> (any StorableValue)? {
    if let (name, value) = TypedJSON.parts(of: json) {
      return TypeReader.type(name).flatMap { read($0, value) }
    }
    switch json {
    case .null: return nil
    case .bool(let value): return value
    case .string(let text): return text
    case .number: return TypedJSON.number(json)
    case .array: return [AnyStorableValue].reading(json)
    case .object: return [String: AnyStorableValue].reading(json)
    }
  }

  private static func read<Value: ReadableValue>(
    _: Value.Type, _ json: JSONValue
  ) -> (any StorableValue)? { Value.reading(json) }
}
