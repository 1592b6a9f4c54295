extension ValueCoder {
  /// The same for an optional that is not nil; nil is never written and never read.
  var optional: ValueCoder<Value?> {
    ValueCoder<Value?>(
      append: { [self] (value, bytes) throws(StorageError) in
        guard let value else { throw StorageError(.invalid, "nil is removed and not stored") }
        try append(value, &bytes)
      },
      read: { [self] (bytes, offset) throws(StorageError) in try read(bytes, &offset) })
  }

  /// The same for what is in the optional.
  func unwrapped<Wrapped>() -> ValueCoder<Wrapped> where Value == Wrapped? {
    ValueCoder<Wrapped>(
      append: { [self] (value, bytes) throws(StorageError) in try append(value, &bytes) },
      read: { [self] (bytes, offset) throws(StorageError) in
        guard let value = try read(bytes, &offset) else {
          throw StorageError(.damaged, "there is no value where one was stored")
        }
        return value
      })
  }
}

extension SealedStore {
  /// How a live property's values become bytes: as `@Store` has them, and as JSON where the delegate keeps
  /// them in the clear.
  func liveCoder<Value: Codable>() -> ValueCoder<Value> {
    isClear ? .coding(.json) : .automatic()
  }

  /// The same for an optional type, or nil when the type is none.
  func optionalCoder<Value>() -> ValueCoder<Value>? {
    guard let type = Value.self as? any LiveOptional.Type else { return nil }
    return optionalCoder(type) as? ValueCoder<Value>
  }

  private func optionalCoder<Value: LiveOptional>(_ type: Value.Type) -> Any {
    type.coder(in: self)
  }
}

/// An optional type, found out where a generic initialiser can't name what is wrapped: among
/// initialisers, one that is generic itself loses to one that is not.
private protocol LiveOptional {
  static func coder(in store: SealedStore) -> Any
}

extension Optional: LiveOptional where Wrapped: Codable {
  static func coder(in store: SealedStore) -> Any {
    let coder: ValueCoder<Wrapped> = store.liveCoder()
    return coder.optional
  }
}
