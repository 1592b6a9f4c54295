extension Storage {
  /// Reads the value of a key that was stored as `Codable`; nil when there is none.
  ///
  /// - Parameters:
  ///   - type: the type of the value.
  ///   - key: the key.
  ///   - coding: how the value was encoded.
  /// - Returns: the value, or nil.
  /// - Throws: `StorageError`: `typeMismatch`, `damaged`, or the reason why the store can't be
  ///   read.
  public func load<Value: Decodable>(
    decodable type: Value.Type, forKey key: StoreKey, coding: CodableCoding = .json
  ) throws(StorageError) -> Value? {
    try store.read(store.name(key), ValueCoder<Value>.decoding(coding))
  }

  /// Stores a value as `Codable`, even if its type has its own stored form; nil removes the value.
  ///
  /// - Parameters:
  ///   - value: the value.
  ///   - key: the key.
  ///   - coding: how the value is encoded.
  /// - Throws: `StorageError`. The old value then remains, except after `outcomeUnknown`.
  public func save<Value: Encodable>(
    encodable value: Value?, forKey key: StoreKey, coding: CodableCoding = .json
  ) throws(StorageError) {
    guard let value else { return try delete(forKey: key) }
    try store.write(value, store.name(key), ValueCoder<Value>.encoding(coding))
  }
}
