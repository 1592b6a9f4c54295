extension Storage {
  /// The value of a key that was stored as `Codable`, or nil when there is none.
  ///
  /// - Parameters:
  ///   - type: the type of the value.
  ///   - key: the key.
  ///   - coding: how it was encoded.
  /// - Returns: the value, or nil.
  /// - Throws: `StorageError`: `typeMismatch`, `damaged`, or why the store can't be read.
  public func load<Value: Decodable>(
    decodable type: Value.Type, forKey key: StoreKey, coding: CodableCoding = .json
  ) throws(StorageError) -> Value? {
    try store.read(store.name(key), ValueCoder<Value>.decoding(coding))
  }

  /// Stores a value as `Codable`, whatever other form its type has; nil removes it.
  ///
  /// - Parameters:
  ///   - value: the value.
  ///   - key: the key.
  ///   - coding: how it is encoded.
  /// - Throws: `StorageError`; the old value is then still there, except with `outcomeUnknown`.
  public func save<Value: Encodable>(
    encodable value: Value?, forKey key: StoreKey, coding: CodableCoding = .json
  ) throws(StorageError) {
    guard let value else { return try delete(forKey: key) }
    try store.write(value, store.name(key), ValueCoder<Value>.encoding(coding))
  }
}
