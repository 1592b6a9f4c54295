internal import CryptoCore

extension Optional: StorableValue where Wrapped: StorableValue {
  /// An optional, 0 for `nil` or 1 and the value.
  public static var valueType: ValueType { ValueType(.optional, of: Wrapped.valueType) }

  /// Appends 0, or 1 and the value.
  public func append(to bytes: inout [UInt8]) throws(StorageError) {
    guard let value = self else { return bytes.append(0) }
    bytes.append(1)
    try value.append(to: &bytes)
  }

  /// Reads 0, or 1 and the value.
  public static func read(
    _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> Wrapped? {
    try Bool.read(bytes, at: &offset) ? Wrapped.read(bytes, at: &offset) : nil
  }
}

extension Array: StorableValue where Element: StorableValue {
  /// An array, the elements behind their count.
  public static var valueType: ValueType { ValueType(.array, of: Element.valueType) }

  /// Appends the count and the elements.
  public func append(to bytes: inout [UInt8]) throws(StorageError) {
    try bytes.appendCount(count)
    for element in self { try element.append(to: &bytes) }
  }

  /// Reads the count and the elements.
  public static func read(
    _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> [Element] {
    let count = try Payload.elementCount(bytes, at: &offset)
    var elements: [Element] = []
    elements.reserveCapacity(Swift.min(count, bytes.byteCount))
    for _ in 0..<count { elements.append(try Element.read(bytes, at: &offset)) }
    return elements
  }
}

extension Set: StorableValue where Element: StorableValue {
  /// A set, the elements behind their count, in the order of their bytes.
  public static var valueType: ValueType { ValueType(.set, of: Element.valueType) }

  /// Appends the count and the elements.
  public func append(to bytes: inout [UInt8]) throws(StorageError) {
    var elements: [[UInt8]] = []
    for element in self {
      var encoded: [UInt8] = []
      try element.append(to: &encoded)
      elements.append(encoded)
    }
    try bytes.appendSorted(elements.map { ($0, []) })
  }

  /// Reads the count and the elements.
  public static func read(
    _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> Set<Element> {
    var elements: Set<Element> = []
    var order = CanonicalOrder()
    for _ in 0..<(try Payload.elementCount(bytes, at: &offset)) {
      let start = offset
      let element = try Element.read(bytes, at: &offset)
      try order.check(bytes.extracting(start..<offset))
      elements.insert(element)
    }
    return elements
  }
}

extension Dictionary: StorableValue where Key: StorableValue, Value: StorableValue {
  /// A dictionary, keys and values behind their count, in the order of the keys' bytes.
  public static var valueType: ValueType {
    ValueType(.dictionary, of: Key.valueType, Value.valueType)
  }

  /// Appends the count, and each key with its value.
  public func append(to bytes: inout [UInt8]) throws(StorageError) {
    var pairs: [([UInt8], [UInt8])] = []
    for (key, value) in self {
      var pair: ([UInt8], [UInt8]) = ([], [])
      try key.append(to: &pair.0)
      try value.append(to: &pair.1)
      pairs.append(pair)
    }
    try bytes.appendSorted(pairs)
  }

  /// Reads the count, and each key with its value.
  public static func read(
    _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> [Key: Value] {
    var pairs: [Key: Value] = [:]
    var order = CanonicalOrder()
    for _ in 0..<(try Payload.elementCount(bytes, at: &offset)) {
      let start = offset
      let key = try Key.read(bytes, at: &offset)
      try order.check(bytes.extracting(start..<offset))
      pairs[key] = try Value.read(bytes, at: &offset)
    }
    return pairs
  }
}

/// Checks that the elements of a set, or the keys of a dictionary, are in the one legal order.
struct CanonicalOrder {
  private var previous: [UInt8]?

  mutating func check(_ element: RawSpan) throws(StorageError) {
    let element = element.copied()
    if let previous, !previous.lexicographicallyPrecedes(element) {
      throw StorageError(.damaged, "the elements are not in their one legal order")
    }
    previous = element
  }
}

extension [UInt8] {
  mutating func appendCount(_ count: Int) throws(StorageError) {
    guard count <= Payload.valueLimit else { throw Payload.tooLarge }
    append(bigEndian: UInt32(count))
  }

  /// Appends pairs behind their count, in the order of the first of each.
  mutating func appendSorted(_ pairs: [([UInt8], [UInt8])]) throws(StorageError) {
    try appendCount(pairs.count)
    var previous: [UInt8]?
    for (first, second) in pairs.sorted(by: { $0.0.lexicographicallyPrecedes($1.0) }) {
      // Two NaNs, two URLs that differ in their base: unequal here, and equal when read back.
      guard first != previous else {
        throw StorageError(.invalid, "two elements of a set, or keys, have the same stored form")
      }
      previous = first
      append(contentsOf: first)
      append(contentsOf: second)
    }
  }
}

extension Payload {
  /// The number of elements that follow.
  ///
  /// Each has at least one byte, so there can't be more than there are bytes: a hostile count
  /// allocates nothing.
  static func elementCount(
    _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> Int {
    let count = Int(try ByteReading.integer(bytes, at: &offset, as: UInt32.self))
    guard count <= bytes.byteCount - offset else { throw ByteReading.cutShort }
    return count
  }
}
