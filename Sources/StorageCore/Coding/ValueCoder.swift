internal import CryptoCore
internal import FoundationEssentials

/// Writes values of one Swift type into a payload, and reads them.
///
/// A coder is chosen once for each wrapper, since the choice costs dynamic casts.
@usableFromInline
struct ValueCoder<Value>: @unchecked Sendable {
  // The closures capture metatypes and other coders, which any thread may use.

  /// Appends type and bytes.
  @usableFromInline
  let append: (Value, inout [UInt8]) throws(StorageError) -> Void
  /// Reads type and bytes.
  @usableFromInline
  let read: (RawSpan, inout Int) throws(StorageError) -> Value

  /// The coder of a `Codable` type.
  static func coding(_ coding: CodableCoding) -> ValueCoder where Value: Codable {
    ValueCoder(append: encoding(coding).append, read: decoding(coding).read)
  }

  /// The writing half of a coder.
  static func encoding(_ coding: CodableCoding) -> ValueCoder where Value: Encodable {
    ValueCoder(
      append: { (value, bytes) throws(StorageError) in try coding.append(value, to: &bytes) },
      read: { (_, _) throws(StorageError) in
        throw StorageError(.unsupported, "\(Value.self) can be written but not read")
      })
  }

  /// The reading half of a coder.
  static func decoding(_ coding: CodableCoding) -> ValueCoder where Value: Decodable {
    ValueCoder(
      append: { (_, _) throws(StorageError) in
        throw StorageError(.unsupported, "\(Value.self) can be read but not written")
      },
      read: { (bytes, offset) throws(StorageError) in
        try coding.read(Value.self, bytes, at: &offset)
      })
  }

  /// The coder of any type: with its own compact form, as `Codable`, as a keyed archive, or chosen
  /// by the dynamic type of each value.
  static func automatic() -> ValueCoder {
    if let coder = SimpleCoders.all[ObjectIdentifier(Value.self)] as? ValueCoder { return coder }
    if let type = Value.self as? any StorableValue.Type { return storable(type) }
    if let type = Value.self as? any Codable.Type { return codable(type) }
    if let type = Value.self as? any RawRepresentable.Type, let coder = raw(type) { return coder }
    if FoundationObjects.coder?.canArchive(Value.self) == true { return archived }
    return dynamic
  }

  /// Reads the value of a payload; throws `damaged` if bytes are left.
  @inlinable
  func decode(_ payload: RawSpan) throws(StorageError) -> Value {
    var offset = try Payload.valueOffset(payload)
    let value = try read(payload, &offset)
    if offset != payload.byteCount { throw Payload.tooLong }
    return value
  }

  /// The error for a stored value of another type than the requested one.
  static func mismatch(_ bytes: RawSpan, at offset: Int) throws(StorageError) -> StorageError {
    var offset = offset
    let stored = try ValueType.read(bytes, at: &offset)
    let text =
      stored == String.valueType && Value.self is any ExactlyReadable.Type
      ? ", and the text is not exactly a value of that type" : ""
    return StorageError(
      .typeMismatch,
      "the value is stored as \(stored), but was requested as \(Value.self)\(text). It was left unchanged. "
        + "Read it as \(stored), or save a new value over it. If the property is live, call remove() before you save"
    )
  }

  // MARK: -

  @inline(__always)
  fileprivate static func storable<Stored: StorableValue>(_: Stored.Type) -> ValueCoder {
    let type = Stored.valueType
    let isLegal = type.isLegal
    // `Stored` is `Value`: the casts below always succeed and cost nothing when specialised.
    let coder = ValueCoder<Stored>(
      append: { (value, bytes) throws(StorageError) in
        guard isLegal else { throw type.illegal }
        type.append(to: &bytes)
        try value.append(to: &bytes)
      },
      read: { (bytes, offset) throws(StorageError) in
        guard type.matches(bytes, at: &offset) else {
          if let value = try ExactText.read(Stored.self, bytes, at: &offset) { return value }
          // If all elements of a stored [Any] have one type, they can be read as a typed array.
          let start = offset
          let stored = try ValueType.read(bytes, at: &offset)
          guard stored.tags.contains(ValueType.Tag.any.rawValue) else {
            throw try mismatch(bytes, at: start)
          }
          offset = start
          guard let value = try DynamicValue.read(bytes, at: &offset) as? Stored else {
            throw try mismatch(bytes, at: start)
          }
          return value
        }
        return try Stored.read(bytes, at: &offset)
      })
    return coder as! ValueCoder  // the type that was opened is `Value` itself
  }

  private static func codable<Stored: Codable>(_: Stored.Type) -> ValueCoder {
    ValueCoder<Stored>.coding(.json) as! ValueCoder  // `Stored` is `Value` itself
  }

  private static func raw<Stored: RawRepresentable>(_: Stored.Type) -> ValueCoder? {
    guard Stored.RawValue.self is any StorableValue.Type else { return nil }
    let raw = ValueCoder<Stored.RawValue>.automatic()
    let coder = ValueCoder<Stored>(
      append: { (value, bytes) throws(StorageError) in try raw.append(value.rawValue, &bytes) },
      read: { (bytes, offset) throws(StorageError) in
        if let value = try StoredForms<Stored>.read(Stored.self, bytes, at: &offset) {
          return value
        }
        throw try ValueCoder<Stored>.mismatch(bytes, at: offset)
      })
    return coder as? ValueCoder
  }

  private static var dynamic: ValueCoder {
    ValueCoder(
      append: { (value, bytes) throws(StorageError) in
        // Checks the type first, because casting the value would bridge it part by part.
        if Swift.type(of: value as Any) is AnyClass,
          try FoundationObjects.append(value, to: &bytes)
        {
          return
        }
        try DynamicValue.append(value, to: &bytes)
      },
      read: { (bytes, offset) throws(StorageError) in
        let start = offset
        guard let value = try DynamicValue.read(bytes, at: &offset) as? Value else {
          throw try mismatch(bytes, at: start)
        }
        return value
      })
  }

  private static var archived: ValueCoder {
    ValueCoder(append: dynamic.append) { (bytes, offset) throws(StorageError) in
      try FoundationObjects.read(Value.self, bytes, at: &offset)
    }
  }
}

extension ValueCoder where Value == Any {
  /// The coder of values whose type the caller does not name, including archives of Foundation's
  /// objects.
  static var objects: ValueCoder {
    ValueCoder(append: dynamic.append) { (bytes, offset) throws(StorageError) in
      if let object = try FoundationObjects.readPlain(bytes, at: &offset) { return object }
      return try DynamicValue.read(bytes, at: &offset)
    }
  }
}

/// The coders of the simple types, made where the compiler knows the type.
///
/// A coder made for a type that is known only at run time takes three times as long.
private enum SimpleCoders {
  // The ValueCoder of each type.
  static let all: [ObjectIdentifier: any Sendable] = Dictionary(
    uniqueKeysWithValues: [
      entry(Bool.self), entry(Int.self), entry(Int8.self), entry(Int16.self), entry(Int32.self),
      entry(Int64.self), entry(UInt.self), entry(UInt8.self), entry(UInt16.self),
      entry(UInt32.self), entry(UInt64.self), entry(Float.self), entry(Double.self),
      entry(String.self), entry(Data.self), entry(Date.self), entry(URL.self), entry(UUID.self),
      entry(Decimal.self), entry([String].self), entry([UInt8].self),
      (ObjectIdentifier(EncodedValue.self), EncodedValue.coder),
      (ObjectIdentifier(AnyStorableValue.self), whole),
    ])

  /// A value that has its type with it is stored as that type.
  private static let whole = ValueCoder<AnyStorableValue>(
    append: { (value, bytes) throws(StorageError) in try value.append(to: &bytes) },
    read: { (bytes, offset) throws(StorageError) in
      try AnyStorableValue.read(bytes, at: &offset)
    })

  @inline(__always)
  private static func entry<Stored: StorableValue>(
    _ type: Stored.Type
  ) -> (ObjectIdentifier, any Sendable) {
    (ObjectIdentifier(type), ValueCoder<Stored>.storable(type))
  }
}
