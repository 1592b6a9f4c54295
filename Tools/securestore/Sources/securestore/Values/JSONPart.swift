/// Any JSON, read and written by Foundation's coders as the value that it is.
struct JSONPart: Codable, Sendable {
  let value: JSONValue

  init(value: JSONValue) { self.value = value }

  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(_ text: String) { stringValue = text }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue _: Int) { return nil }
  }

  init(from decoder: any Decoder) throws {
    if let values = Self.values(decoder) {
      value = .array(values)
      return
    }
    if let members = Self.members(decoder) {
      value = .object(members)
      return
    }
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      value = .null
    } else if let bool = Self.found({ try container.decode(Bool.self) }) {
      value = .bool(bool)
    } else if let number = Self.found({ try container.decode(Int64.self) }) {
      value = .number("\(number)")
    } else if let number = Self.found({ try container.decode(UInt64.self) }) {
      value = .number("\(number)")
    } else if let number = Self.found({ try container.decode(Double.self) }), number.isFinite {
      value = .number("\(number)")
    } else {
      value = .string(try container.decode(String.self))
    }
  }

  /// The result, or nil for another type: a coder tells types apart only by errors.
  private static func found<Value>(_ decode: () throws -> Value) -> Value? {
    do { return try decode() } catch { return nil }
  }

  private static func values(_ decoder: any Decoder) -> [JSONValue]? {
    found {
      var container = try decoder.unkeyedContainer()
      var values: [JSONValue] = []
      while !container.isAtEnd { values.append(try container.decode(JSONPart.self).value) }
      return values
    }
  }

  private static func members(_ decoder: any Decoder) -> [(String, JSONValue)]? {
    found {
      let container = try decoder.container(keyedBy: Name.self)
      return try container.allKeys.sorted { $0.stringValue < $1.stringValue }.map { name in
        (name.stringValue, try container.decode(JSONPart.self, forKey: name).value)
      }
    }
  }

  func encode(to encoder: any Encoder) throws {
    switch value {
    case .array(let values):
      var container = encoder.unkeyedContainer()
      for value in values { try container.encode(JSONPart(value: value)) }
    case .object(let members):
      var container = encoder.container(keyedBy: Name.self)
      for (name, value) in members {
        try container.encode(JSONPart(value: value), forKey: Name(name))
      }
    default:
      var container = encoder.singleValueContainer()
      switch value {
      case .bool(let value): try container.encode(value)
      case .number(let digits): try Self.encode(digits, to: &container)
      case .string(let text): try container.encode(text)
      default: try container.encodeNil()
      }
    }
  }

  private static func encode(
    _ digits: String, to container: inout any SingleValueEncodingContainer
  ) throws {
    if let number = Int64(digits) {
      try container.encode(number)
    } else if let number = UInt64(digits) {
      try container.encode(number)
    } else if let number = JSONNumber.value(digits) as Double? {
      try container.encode(number)
    } else {
      throw Failure(
        .typeMismatch,
        "a number of the value has more digits than a Double holds; nothing was changed")
    }
  }
}
