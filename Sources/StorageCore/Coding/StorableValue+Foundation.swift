public import FoundationEssentials

extension Data: StorableValue {
  /// `Data`: the count followed by the bytes.
  public static let valueType = ValueType(.data)

  /// Appends the count and the bytes.
  public func append(to bytes: inout [UInt8]) throws(StorageError) {
    try bytes.appendCounted(self)
  }

  /// Reads the count and the bytes.
  public static func read(
    _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> Data {
    let count = Int(try ByteReading.integer(bytes, at: &offset, as: UInt32.self))
    let range = try ByteReading.range(of: count, bytes, at: &offset)
    return unsafe bytes.extracting(range).withUnsafeBytes { unsafe Data($0) }
  }
}

extension Date: StorableValue {
  /// `Date`: the seconds since 2001 as a `Double`.
  public static let valueType = ValueType(.date)

  /// Appends the seconds since the reference date.
  public func append(to bytes: inout [UInt8]) throws(StorageError) {
    try timeIntervalSinceReferenceDate.append(to: &bytes)
  }

  /// Reads the seconds since the reference date.
  public static func read(
    _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> Date {
    Date(timeIntervalSinceReferenceDate: try Double.read(bytes, at: &offset))
  }
}

extension URL: StorableValue {
  /// `URL`: its absolute string, so a relative URL is stored with its base.
  public static let valueType = ValueType(.url)

  /// Appends the absolute string.
  ///
  /// - Throws: `invalid` when the string does not give the same URL again.
  public func append(to bytes: inout [UInt8]) throws(StorageError) {
    guard URL(string: absoluteString)?.absoluteString == absoluteString else {
      throw StorageError(
        .invalid, "the URL can't be stored: its absolute string does not give the same URL again")
    }
    try absoluteString.append(to: &bytes)
  }

  /// Reads the absolute string.
  public static func read(
    _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> URL {
    let text = try String.read(bytes, at: &offset)
    guard let url = URL(string: text), url.absoluteString == text else {
      throw StorageError(.damaged, "the stored text of a URL is not a URL")
    }
    return url
  }
}

extension UUID: StorableValue {
  /// `UUID`: its 16 bytes.
  public static let valueType = ValueType(.uuid)

  /// Appends the 16 bytes.
  public func append(to bytes: inout [UInt8]) throws(StorageError) {
    unsafe withUnsafeBytes(of: uuid) { unsafe bytes.appendWiping(contentsOf: $0) }
  }

  /// Reads the 16 bytes.
  public static func read(
    _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> UUID {
    let range = try ByteReading.range(of: 16, bytes, at: &offset)
    return UUID(
      uuid: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: range.lowerBound, as: uuid_t.self))
  }
}

extension Decimal: StorableValue {
  /// `Decimal`: its digits as text, as in `description`.
  public static let valueType = ValueType(.decimal)

  /// Appends the digits.
  public func append(to bytes: inout [UInt8]) throws(StorageError) {
    try description.append(to: &bytes)
  }

  /// Reads the digits.
  public static func read(
    _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> Decimal {
    let text = try String.read(bytes, at: &offset)
    if text == "NaN" { return .nan }
    guard let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")),
      value.description == text
    else { throw StorageError(.damaged, "the stored text of a Decimal is not a Decimal") }
    return value
  }
}
