private import FoundationEssentials

extension AnyCodable: Codable {
  /// The names of one-member objects that stand for other types.
  private enum Tag: String {
    case double = "$double"
    case uint = "$uint"
    case data = "$data"
    case date = "$date"
  }

  /// The largest depth of nested arrays and objects that is read.
  private static let depthLimit = 256

  /// Writes the value.
  ///
  /// - Throws: an error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .int(let value): try container.encode(value)
    case .uint(let value) where value > Int64.max: try container.encode(value)
    case .uint(let value): try container.encode([Tag.uint.rawValue: "\(value)"])
    case .double(let value) where value.isFinite && value != value.rounded():
      try container.encode(value)
    // The text of a Double is the shortest one that reads back as the same value.
    case .double(let value): try container.encode([Tag.double.rawValue: "\(value)"])
    case .string(let value): try container.encode(value)
    case .data(let value):
      try container.encode([Tag.data.rawValue: value.base64EncodedString()])
    case .date(let value):
      try container.encode([Tag.date.rawValue: "\(value.timeIntervalSinceReferenceDate)"])
    case .array(let values): try container.encode(values)
    case .dictionary(let values):
      if let name = Self.onlyName(of: values, prefix: "$") {
        try container.encode(["$" + name: values[name]])
      } else {
        try container.encode(values)
      }
    }
  }

  /// The name of the only member, if it begins with `prefix`.
  private static func onlyName(of values: [String: AnyCodable], prefix: String) -> String? {
    values.count == 1 ? values.keys.first.flatMap { $0.hasPrefix(prefix) ? $0 : nil } : nil
  }

  /// Reads a value.
  ///
  /// - Throws: a `DecodingError` for input that no `AnyCodable` was encoded as.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard decoder.codingPath.count < Self.depthLimit else {
      throw Self.corrupted(decoder, "the value is nested too deeply")
    }
    if container.decodeNil() {
      self = .null
    } else if let value = Self.scalar(in: container) {
      self = value
    } else if let values = Self.attempt({ try container.decode([AnyCodable].self) }) {
      self = .array(values)
    } else {
      self = try Self.object(container.decode([String: AnyCodable].self), decoder)
    }
  }

  private static func scalar(in container: any SingleValueDecodingContainer) -> AnyCodable? {
    if let value = attempt({ try container.decode(Bool.self) }) { return .bool(value) }
    if let value = attempt({ try container.decode(Int64.self) }) { return .int(value) }
    if let value = attempt({ try container.decode(UInt64.self) }) { return .uint(value) }
    if let value = attempt({ try container.decode(Double.self) }) { return .double(value) }
    if let value = attempt({ try container.decode(String.self) }) { return .string(value) }
    return nil
  }

  /// The result of `body`, or nil for a value of another type; the caller then tries the next type.
  private static func attempt<Value>(_ body: () throws -> Value) -> Value? {
    do { return try body() } catch { return nil }
  }

  private static func object(
    _ values: [String: AnyCodable], _ decoder: any Decoder
  ) throws -> AnyCodable {
    if let name = onlyName(of: values, prefix: "$$"), let value = values[name] {
      return .dictionary([String(name.dropFirst()): value])
    }
    guard let name = onlyName(of: values, prefix: "$"), let tag = Tag(rawValue: name) else {
      return .dictionary(values)
    }
    if case .string(let text)? = values[name], let value = Self.value(of: tag, text) {
      return value
    }
    throw corrupted(decoder, "the value of an object with the single key \(name) is not valid")
  }

  private static func value(of tag: Tag, _ text: String) -> AnyCodable? {
    switch tag {
    case .double: Double(text).map { .double($0) }
    case .uint: UInt64(text).map { .uint($0) }
    case .data: Data(base64Encoded: text).map { .data($0) }
    case .date: Double(text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    }
  }

  private static func corrupted(_ decoder: any Decoder, _ reason: String) -> DecodingError {
    .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: reason))
  }
}
