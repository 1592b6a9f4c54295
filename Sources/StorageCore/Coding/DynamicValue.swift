internal import CryptoCore
internal import FoundationEssentials

/// Values whose type is known only at run time, such as elements of `[Any]` and values from a plist
/// or JSON reader.
enum DynamicValue {
  private static let any = ValueType(.any)
  private static let anyArray = ValueType(.array, of: any)
  private static let anySet = ValueType(.set, of: any)
  private static let anyDictionary = ValueType(.dictionary, of: ValueType(.string), any)

  /// Appends the type and the bytes of `value`.
  static func append(
    _ value: Any, to bytes: inout [UInt8], depth: Int = 0
  ) throws(StorageError) {
    guard depth < ValueType.depthLimit else { throw tooDeep }
    if let value = value as? any StorableValue {
      let type = type(of: value).valueType
      // Checked so that the value can be read again: reading counts the nesting of the type too.
      guard depth + type.nesting <= ValueType.depthLimit else { throw tooDeep }
      type.append(to: &bytes)
      return try value.append(to: &bytes)
    }
    if let value = value as? AnyHashable, !(value.base is AnyHashable),
      let base = value.base as? any StorableValue
    {
      return try append(base, to: &bytes, depth: depth)
    }
    if type(of: value) is AnyClass, let plain = FoundationObjects.coder?.swiftValue(of: value) {
      return try append(plain, to: &bytes, depth: depth)
    }
    switch value {
    case let values as [Any]:
      anyArray.append(to: &bytes)
      try bytes.appendCount(values.count)
      for value in values { try append(value, to: &bytes, depth: depth + 1) }
    case let values as Set<AnyHashable>:
      anySet.append(to: &bytes)
      try bytes.appendSorted(values) { (value, bytes) throws(StorageError) in
        try append(value.base, to: &bytes, depth: depth + 1)
      }
    case let values as [String: Any]:
      anyDictionary.append(to: &bytes)
      try bytes.appendSorted(values) { (pair, bytes) throws(StorageError) in
        try pair.key.append(to: &bytes)
      } value: { (pair, bytes) throws(StorageError) in
        try append(pair.value, to: &bytes, depth: depth + 1)
      }
    default:
      throw StorageError(
        .unsupported,
        "a \(type(of: value)) can't be stored; make it Codable, or store one of the types that "
          + "StorableValue lists" + advice(for: value))
    }
  }

  static let tooDeep = StorageError(
    .invalid,
    "the value is nested more than \(ValueType.depthLimit) levels deep; store a flatter one")

  private static func advice(for value: Any) -> String {
    guard type(of: value) is AnyClass, FoundationObjects.coder == nil else { return "" }
    return "; " + FoundationObjects.advice
  }

  /// Reads a type and a value of that type.
  static func read(_ bytes: RawSpan, at offset: inout Int) throws(StorageError) -> Any {
    let type = try ValueType.read(bytes, at: &offset)
    return try read(type, bytes, at: &offset, depth: 0)
  }

  private static func read(
    _ type: ValueType, _ bytes: RawSpan, at offset: inout Int, depth: Int
  ) throws(StorageError) -> Any {
    guard depth < ValueType.depthLimit else {
      throw StorageError(.damaged, "the value is nested too deeply")
    }
    if let scalar = scalars[type] { return try scalar.read(bytes, at: &offset) }
    switch type.tag {
    case .any:
      let type = try ValueType.read(bytes, at: &offset)
      // Not counted as a level, as in the writer.
      return try read(type, bytes, at: &offset, depth: depth)
    case .optional:
      guard try Bool.read(bytes, at: &offset) else { return Any?.none as Any }
      return try read(type.parts[0], bytes, at: &offset, depth: depth + 1)
    case .array:
      let part = type.parts[0]
      return try elements(bytes, at: &offset) { (offset) throws(StorageError) in
        try read(part, bytes, at: &offset, depth: depth + 1)
      }
    case .set:
      let part = type.parts[0]
      var values: Set<AnyHashable> = []
      var order = CanonicalOrder()
      _ = try elements(bytes, at: &offset) { (offset) throws(StorageError) in
        let start = offset
        let value = try read(part, bytes, at: &offset, depth: depth + 1)
        try order.check(start..<offset, in: bytes)
        values.insert(try hashable(value))
        return ()
      }
      return values
    case .dictionary:
      let parts = type.parts
      var pairs: [AnyHashable: Any] = [:]
      var order = CanonicalOrder()
      _ = try elements(bytes, at: &offset) { (offset) throws(StorageError) in
        let start = offset
        let key = try read(parts[0], bytes, at: &offset, depth: depth + 1)
        try order.check(start..<offset, in: bytes)
        pairs[try hashable(key)] = try read(parts[1], bytes, at: &offset, depth: depth + 1)
        return ()
      }
      if parts[0] == String.valueType {
        // Each key was just read as a String.
        return [String: Any](uniqueKeysWithValues: pairs.map { ($0.base as! String, $1) })
      }
      return pairs
    case .archive where FoundationObjects.coder == nil: throw FoundationObjects.unreadable
    default:
      throw StorageError(.typeMismatch, "a value stored as \(type) must be read with its own type")
    }
  }

  /// The value as a hashable element of a set or key; `[Any]` and similar collections are not
  /// Hashable.
  private static func hashable(_ value: Any) throws(StorageError) -> AnyHashable {
    switch value {
    case let value as AnyHashable: return value
    case let values as [Any]:
      var elements: [AnyHashable] = []
      for value in values { elements.append(try hashable(value)) }
      return elements
    case let pairs as [AnyHashable: Any]:
      var hashed: [AnyHashable: AnyHashable] = [:]
      for (key, value) in pairs { hashed[key] = try hashable(value) }
      return hashed
    case Optional<Any>.none: return AnyHashable(AnyHashable?.none)
    default: throw StorageError(.damaged, "an element of a set, or a key, is not hashable")
    }
  }

  private static func elements(
    _ bytes: RawSpan, at offset: inout Int, _ read: (inout Int) throws(StorageError) -> Any
  ) throws(StorageError) -> [Any] {
    let count = try Payload.elementCount(bytes, at: &offset)
    var values: [Any] = []
    for _ in 0..<count { values.append(try read(&offset)) }
    return values
  }

  /// The Swift type of each type that is not composed of others.
  static let scalars: [ValueType: any (StorableValue & SendableMetatype).Type] = {
    let types: [any (StorableValue & SendableMetatype).Type] = [
      Bool.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt.self, UInt8.self,
      UInt16.self, UInt32.self, UInt64.self, Float.self, Double.self, String.self, Data.self,
      Date.self, URL.self, UUID.self, Decimal.self,
    ]
    return Dictionary(uniqueKeysWithValues: types.map { ($0.valueType, $0) })
  }()
}
