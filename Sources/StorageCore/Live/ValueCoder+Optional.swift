extension ValueCoder {
  /// A coder for another type, whose values become values of this type.
  func mapped<New>(
    _ wrap: @escaping @Sendable (Value) throws(StorageError) -> New,
    _ unwrap: @escaping @Sendable (New) throws(StorageError) -> Value
  ) -> ValueCoder<New> {
    ValueCoder<New>(
      append: { [self] (value, bytes) throws(StorageError) in
        try append(try unwrap(value), &bytes)
      },
      read: { [self] (bytes, offset) throws(StorageError) in
        try wrap(try read(bytes, &offset))
      })
  }

  /// A coder for an optional of this type that is not nil: nil is never written and never read.
  var optional: ValueCoder<Value?> {
    mapped({ (value) throws(StorageError) in value }, requireValue)
  }
}

extension SealedStore {
  /// The coder of a live property's values.
  ///
  /// It encodes as `@Store` does, or as JSON where the delegate keeps values in the clear.
  func liveCoder<Value: Codable>() -> ValueCoder<Value> {
    isClear ? .coding(.json) : .automatic()
  }

  /// A live property's coder for an optional type; nil when the type is not optional.
  func optionalCoder<Value>() -> ValueCoder<Value>? {
    guard let type = Value.self as? any LiveOptional.Type else { return nil }
    return optionalCoder(type) as? ValueCoder<Value>
  }

  private func optionalCoder<Value: LiveOptional>(_ type: Value.Type) -> Any {
    type.coder(in: self)
  }
}

/// Finds out that a type is optional, for an initialiser that can't name the wrapped type.
///
/// Overload resolution prefers an initialiser that is not generic over one that is.
private protocol LiveOptional {
  static func coder(in store: SealedStore) -> Any
}

extension Optional: LiveOptional where Wrapped: Codable {
  static func coder(in store: SealedStore) -> Any {
    let coder: ValueCoder<Wrapped> = store.liveCoder()
    return coder.optional
  }
}
