internal import CryptoCore

extension Optional: StorableValue where Wrapped: StorableValue {
  /// An optional: 0 for `nil`, or 1 followed by the value.
  public static var valueType: ValueType { ValueType(.optional, of: Wrapped.valueType) }

  /// Appends 0, or 1 followed by the value.
  public func append(to bytes: inout [UInt8]) throws(StorageError) {
    guard let value = self else { return bytes.appendWiping(0) }
    bytes.appendWiping(1)
    try value.append(to: &bytes)
  }

  /// Reads 0, or 1 followed by the value.
  public static func read(
    _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> Wrapped? {
    try Bool.read(bytes, at: &offset) ? Wrapped.read(bytes, at: &offset) : nil
  }
}

extension Array: StorableValue where Element: StorableValue {
  /// An array: the count followed by the elements.
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
  /// A set: the count followed by the elements, in the order of their bytes.
  public static var valueType: ValueType { ValueType(.set, of: Element.valueType) }

  /// Appends the count and the elements.
  public func append(to bytes: inout [UInt8]) throws(StorageError) {
    try bytes.appendSorted(self) { (element, bytes) throws(StorageError) in
      try element.append(to: &bytes)
    }
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
      try order.check(start..<offset, in: bytes)
      elements.insert(element)
    }
    return elements
  }
}

extension Dictionary: StorableValue where Key: StorableValue, Value: StorableValue {
  /// A dictionary: the count followed by the keys and values, in the order of the keys' bytes.
  public static var valueType: ValueType {
    ValueType(.dictionary, of: Key.valueType, Value.valueType)
  }

  /// Appends the count, and each key with its value.
  public func append(to bytes: inout [UInt8]) throws(StorageError) {
    try bytes.appendSorted(self) { (pair, bytes) throws(StorageError) in
      try pair.key.append(to: &bytes)
    } value: { (pair, bytes) throws(StorageError) in
      try pair.value.append(to: &bytes)
    }
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
      try order.check(start..<offset, in: bytes)
      pairs[key] = try Value.read(bytes, at: &offset)
    }
    return pairs
  }
}

/// Checks that the elements of a set, or the keys of a dictionary, are in the one legal order.
struct CanonicalOrder {
  private var previous: Range<Int>?

  mutating func check(_ element: Range<Int>, in bytes: RawSpan) throws(StorageError) {
    if let previous {
      let isInOrder = unsafe bytes.withUnsafeBytes { bytes in
        unsafe bytes[previous].lexicographicallyPrecedes(bytes[element])
      }
      guard isInOrder else {
        throw StorageError(
          .damaged, "the elements of a set, or the keys, are not in the legal order")
      }
    }
    previous = element
  }
}

extension [UInt8] {
  mutating func appendCount(_ count: Int) throws(StorageError) {
    guard count <= Payload.valueLimit else { throw Payload.tooLarge }
    appendWiping(bigEndian: UInt32(count))
  }

  /// Appends the count and then the elements, in the order of the bytes of their keys.
  ///
  /// - Parameters:
  ///   - elements: the elements to append.
  ///   - key: appends the part of an element that decides its order.
  ///   - value: appends the rest of an element.
  /// - Throws: `invalid` for two keys with the same bytes, or the error of `key` or `value`.
  mutating func appendSorted<Elements: Collection>(
    _ elements: Elements,
    key: (Elements.Element, inout [UInt8]) throws(StorageError) -> Void,
    value: (Elements.Element, inout [UInt8]) throws(StorageError) -> Void = { _, _ in }
  ) throws(StorageError) {
    try appendCount(elements.count)
    // All elements are in one buffer, which is wiped.
    var encoded: [UInt8] = []
    defer { Wipe.bytes(&encoded) }
    var parts: [(key: Range<Int>, whole: Range<Int>)] = []
    parts.reserveCapacity(elements.count)
    for element in elements {
      let start = encoded.count
      try key(element, &encoded)
      let end = encoded.count
      try value(element, &encoded)
      parts.append((start..<end, start..<encoded.count))
    }
    unsafe encoded.withUnsafeBytes { encoded in
      parts.sort { unsafe encoded[$0.key].lexicographicallyPrecedes(encoded[$1.key]) }
    }
    makeRoom(for: encoded.count)
    var previous: Range<Int>?
    for part in parts {
      // For instance two NaNs, or two URLs with different bases: unequal now, but equal when read
      // again.
      if let previous, encoded[previous] == encoded[part.key] {
        throw StorageError(
          .invalid, "two elements of a set, or two keys of a dictionary, have the same stored form")
      }
      previous = part.key
      append(contentsOf: encoded[part.whole])
    }
  }
}

extension Payload {
  /// The number of elements that follow.
  ///
  /// Each element has at least one byte, so a count above the number of bytes is refused. So a
  /// hostile count can't make the reader allocate memory.
  static func elementCount(
    _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> Int {
    let count = Int(try ByteReading.integer(bytes, at: &offset, as: UInt32.self))
    guard count <= bytes.byteCount - offset else { throw ByteReading.cutShort }
    return count
  }
}
