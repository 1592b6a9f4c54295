internal import Foundation

/// A storage keeps such a value as a `Codable` value, which an application decodes as its own type.
extension JSONValue: Codable {
  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  func encode(to encoder: any Encoder) throws {
    switch self {
    case .object(let members):
      var container = encoder.container(keyedBy: Name.self)
      for (name, value) in members { try container.encode(value, forKey: Name(stringValue: name)) }
    case .array(let values):
      var container = encoder.unkeyedContainer()
      for value in values { try container.encode(value) }
    case .null:
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    case .bool(let value):
      var container = encoder.singleValueContainer()
      try container.encode(value)
    case .string(let value):
      var container = encoder.singleValueContainer()
      try container.encode(value)
    case .number(let digits):
      var container = encoder.singleValueContainer()
      if let value = Int64(digits) {
        try container.encode(value)
      } else if let value = UInt64(digits) {
        try container.encode(value)
      } else if let value = Double(digits), value.isFinite {
        try container.encode(value)
      } else {
        throw Failure(.malformedInput, "a number is too large")
      }
    }
  }

  init(from decoder: any Decoder) throws {
    // Checked first: null has no container, and its error differs from that of a wrong container.
    if try decoder.singleValueContainer().decodeNil() {
      self = .null
    } else if let members = try Self.attempt({ try decoder.container(keyedBy: Name.self) }) {
      self = .object(
        try members.allKeys.sorted { $0.stringValue < $1.stringValue }.map {
          ($0.stringValue, try members.decode(JSONValue.self, forKey: $0))
        })
    } else if var values = try Self.attempt({ try decoder.unkeyedContainer() }) {
      var all: [JSONValue] = []
      while !values.isAtEnd { all.append(try values.decode(JSONValue.self)) }
      self = .array(all)
    } else {
      try self.init(scalarOf: try decoder.singleValueContainer())
    }
  }

  private init(scalarOf container: any SingleValueDecodingContainer) throws {
    if let value = Self.scalar({ try container.decode(Bool.self) }) {
      self = .bool(value)
    } else if let value = Self.scalar({ try container.decode(Int64.self) }) {
      self = .number("\(value)")
    } else if let value = Self.scalar({ try container.decode(UInt64.self) }) {
      self = .number("\(value)")
    } else if let value = Self.scalar({ try container.decode(Double.self) }) {
      self = .number("\(value)")
    } else {
      self = .string(try container.decode(String.self))
    }
  }

  /// The result of `body`; nil for a value of another type; other errors are passed on.
  private static func attempt<Value>(_ body: () throws -> Value) throws -> Value? {
    do {
      return try body()
    } catch DecodingError.typeMismatch {
      return nil
    }
  }

  /// The result of `body`; nil for a value that the type can't hold.
  ///
  /// Foundation's error for a number that is too large can't be named here. If no type holds the value, the
  /// error of the last attempt says why.
  private static func scalar<Value>(_ body: () throws -> Value) -> Value? {
    do { return try body() } catch { return nil }
  }
}
