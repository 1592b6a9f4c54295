/// The two stored forms that one type may have: a plain form, or an encoding of `Codable`.
///
/// The plain form is the type's own compact form, or that of its raw value. A type with a raw value
/// that becomes `Codable`, or no longer is, reads what it stored before. A `Codable` property also
/// reads a plain form of its type, as `migrate(from:keys:)` takes it from `UserDefaults`.
enum StoredForms<Value> {
  /// Reads the plain form of a `Codable` type, where its encoding was expected.
  ///
  /// - Throws: `typeMismatch` for a type without a plain form, and for a value in any other form.
  static func readPlain(_ bytes: RawSpan, at offset: inout Int) throws(StorageError) -> Value {
    if Value.self is any StorableValue.Type {
      return try ValueCoder<Value>.automatic().read(bytes, &offset)
    }
    if let type = Value.self as? any RawRepresentable.Type,
      let value = try read(type, bytes, at: &offset)
    {
      return value
    }
    throw try ValueCoder<Value>.mismatch(bytes, at: offset)
  }

  /// Reads a type with a raw value, in either form; nil for a value in any other form.
  static func read<Raw: RawRepresentable>(
    _: Raw.Type, _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> Value? {
    guard let type = Raw.RawValue.self as? any StorableValue.Type,
      let raw = try rawValue(type, bytes, at: &offset) as? Raw.RawValue
    else { return nil }
    guard let value = Raw(rawValue: raw) as? Value else {
      throw StorageError(
        .typeMismatch,
        "the stored \(Raw.RawValue.self) is not a raw value of this program's \(Value.self). It was left "
          + "unchanged. Another version of the program may have stored it: update this one, add the "
          + "case, or save a new value over it")
    }
    return value
  }

  private static func rawValue<Stored: StorableValue>(
    _: Stored.Type, _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> Any? {
    if Stored.valueType.matches(bytes, at: &offset) { return try Stored.read(bytes, at: &offset) }
    for coding in [CodableCoding.json, .propertyList] where coding.isNext(bytes, at: offset) {
      guard let type = Stored.self as? any Decodable.Type else { return nil }
      return try decoded(type, coding, bytes, at: &offset)
    }
    if let value = try ExactText.read(Stored.self, bytes, at: &offset) { return value }
    guard let type = Stored.self as? any FixedWidthInteger.Type else { return nil }
    return try integer(type, bytes, at: &offset)
  }

  private static func decoded<Decoded: Decodable>(
    _: Decoded.Type, _ coding: CodableCoding, _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> Any {
    try coding.read(Decoded.self, bytes, at: &offset)
  }

  /// `UserDefaults` returns every whole number as an `Int`, whatever the type of the raw value is.
  private static func integer<Integer: FixedWidthInteger>(
    _: Integer.Type, _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> Any? {
    var end = offset
    let value: Integer?
    if Int.valueType.matches(bytes, at: &end) {
      value = Integer(exactly: try Int.read(bytes, at: &end))
    } else if UInt.valueType.matches(bytes, at: &end) {
      value = Integer(exactly: try UInt.read(bytes, at: &end))
    } else {
      return nil
    }
    if value != nil { offset = end }
    return value
  }
}
