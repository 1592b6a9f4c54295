public import CryptoCore

/// A storable value together with its type.
///
/// Loads a value whose type the program learns only from the store:
///
///     let value = try vault.load(AnyStorableValue.self, forKey: "retries")
///     let type = value?.type  // Int
///
/// Saving it stores the same bytes again. Collections of it are stored as collections of `Any` are:
/// use `[AnyStorableValue]` for `[Any]`, `Set<AnyStorableValue>` for `Set<AnyHashable>`, and
/// `[String: AnyStorableValue]` for `[String: Any]`. Elements then keep their exact types: an
/// `Int?` stays one. Values are equal if their types and bytes are.
///
/// A `Codable` value is the error `typeMismatch`; ``EncodedValue`` holds those.
public struct AnyStorableValue: StorableValue, Hashable, RedactedDescription, @unchecked Sendable {
  // Unchecked, because the protocol says nothing of it: all types that conform, only those of this
  // package, are Sendable.

  /// The type of an element that has a type of its own.
  public static let valueType = ValueType(.any)

  /// The value, which is secret and not wiped.
  public let value: any StorableValue
  /// The type that the value is stored as.
  public let type: ValueType

  /// The type and the value.
  private let bytes: [UInt8]
  private let nesting: Int

  /// Takes a value.
  ///
  /// - Throws: `StorageError` with `invalid` for a value that is too large or nested too deeply, or
  ///   a URL that does not give the same URL again; with `unsupported` for a type that is never
  ///   stored.
  public init(_ value: any StorableValue) throws(StorageError) {
    let type = Swift.type(of: value).valueType
    // The cast alone would also unwrap an optional.
    if type == Self.valueType, let value = value as? AnyStorableValue {
      self = value
      return
    }
    guard type.isLegal else { throw type.illegal }
    let nesting = Self.nesting(of: value, type)
    // One level is left for the collection around the value.
    guard nesting < ValueType.depthLimit else { throw DynamicValue.tooDeep }
    var bytes: [UInt8] = []
    type.append(to: &bytes)
    try value.append(to: &bytes)
    self.init(value, type, bytes, nesting)
  }

  private init(_ value: any StorableValue, _ type: ValueType, _ bytes: [UInt8], _ nesting: Int) {
    self.value = value
    self.type = type
    self.bytes = bytes
    self.nesting = nesting
  }

  /// Whether the types and the bytes are equal.
  public static func == (one: AnyStorableValue, other: AnyStorableValue) -> Bool {
    one.bytes == other.bytes
  }

  /// Hashes the type and the bytes.
  public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

  /// Appends the type and the value.
  public func append(to bytes: inout [UInt8]) throws(StorageError) {
    bytes.appendWiping(contentsOf: self.bytes)
  }

  /// Reads a type and a value of that type.
  public static func read(
    _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> AnyStorableValue {
    // This reader has a limit of its own for the nesting, and refuses what the one below would
    // recurse into.
    var end = offset
    _ = try DynamicValue.read(bytes, at: &end)
    let start = offset
    let type = try ValueType.read(bytes, at: &offset)
    guard let swiftType = type.swiftType else {
      throw StorageError(.typeMismatch, "a value stored as \(type) must be read with its own type")
    }
    let value = try swiftType.read(bytes, at: &offset)
    return AnyStorableValue(
      value, type, bytes.extracting(start..<offset).copied(), nesting(of: value, type))
  }

  /// The levels of a value; in a collection of any, those of the elements count.
  private static func nesting(of value: any StorableValue, _ type: ValueType) -> Int {
    guard type.tags.last == ValueType.Tag.any.rawValue else { return type.nesting }
    let elements: [AnyStorableValue]
    switch value {
    case let values as [AnyStorableValue]: elements = values
    case let values as Set<AnyStorableValue>: elements = Array(values)
    case let pairs as [String: AnyStorableValue]: elements = Array(pairs.values)
    default: return type.nesting
    }
    return 1 + (elements.map(\.nesting).max() ?? 1)
  }
}

extension ValueType {
  /// The Swift type of values that are stored so; nil for a coding of `Codable`, and for an
  /// archive.
  fileprivate var swiftType: (any StorableValue.Type)? {
    let parts = parts
    switch tag {
    case .any: return AnyStorableValue.self
    case .optional: return parts[0].swiftType.map { Self.optional($0) }
    case .array: return parts[0].swiftType.map { Self.array($0) }
    case .set: return parts[0].hashableType.map { Self.set($0) }
    case .dictionary:
      guard let key = parts[0].hashableType, let value = parts[1].swiftType else { return nil }
      return Self.dictionary(key, value)
    default: return DynamicValue.scalars[self]
    }
  }

  private var hashableType: (any (StorableValue & Hashable).Type)? {
    swiftType as? any (StorableValue & Hashable).Type
  }

  private static func optional<Part: StorableValue>(_: Part.Type) -> any StorableValue.Type {
    Part?.self
  }
  private static func array<Part: StorableValue>(_: Part.Type) -> any StorableValue.Type {
    [Part].self
  }
  private static func set<Part: StorableValue & Hashable>(
    _: Part.Type
  ) -> any StorableValue.Type { Set<Part>.self }
  private static func dictionary<Key: StorableValue & Hashable, Value: StorableValue>(
    _: Key.Type, _: Value.Type
  ) -> any StorableValue.Type { [Key: Value].self }
}
