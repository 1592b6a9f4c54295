/// Short forms of the most frequent calls for async code.
///
/// All other calls are made with ``BlockingCalls/async(_:)``, whose comment also says which thread
/// these run on and what cancelling does.
extension Storage {
  /// As ``load(_:forKey:)``.
  ///
  /// - Throws: as ``load(_:forKey:)``.
  public func loadAsync<Value: Sendable>(
    _ type: Value.Type = Value.self, forKey key: StoreKey
  ) async throws(StorageError) -> Value? {
    let store = store
    let (name, coder) = (store.name(key), ValueCoder<Value>.automatic())
    if let value = store.readAtOnce(name, coder) { return value }
    return try await Blocking.run { () throws(StorageError) in try store.read(name, coder) }
  }

  /// As ``save(_:forKey:)``.
  ///
  /// - Throws: as ``save(_:forKey:)``.
  public func saveAsync<Value: Sendable>(
    _ value: Value?, forKey key: StoreKey
  ) async throws(StorageError) {
    try await Blocking.run { () throws(StorageError) in try self.save(value, forKey: key) }
  }

  /// As ``update(_:forKey:_:)``.
  ///
  /// - Returns: what the last run of `body` returned.
  /// - Throws: as ``update(_:forKey:_:)``.
  @discardableResult
  public func updateAsync<Value: Sendable, Result: Sendable>(
    _ type: Value.Type = Value.self, forKey key: StoreKey,
    _ body: @escaping @Sendable (inout Value?) throws -> Result
  ) async throws -> Result {
    try await Blocking.run { try self.update(Value.self, forKey: key, body) }
  }

  /// As ``delete(forKey:)``.
  ///
  /// - Throws: as ``delete(forKey:)``.
  public func deleteAsync(forKey key: StoreKey) async throws(StorageError) {
    try await Blocking.run { () throws(StorageError) in try self.delete(forKey: key) }
  }

  /// As ``load(decodable:forKey:coding:)``.
  ///
  /// - Throws: as ``load(decodable:forKey:coding:)``.
  public func loadAsync<Value: Decodable & Sendable>(
    decodable type: Value.Type, forKey key: StoreKey, coding: CodableCoding = .json
  ) async throws(StorageError) -> Value? {
    try await Blocking.run { () throws(StorageError) in
      try self.load(decodable: Value.self, forKey: key, coding: coding)
    }
  }

  /// As ``save(encodable:forKey:coding:)``.
  ///
  /// - Throws: as ``save(encodable:forKey:coding:)``.
  public func saveAsync<Value: Encodable & Sendable>(
    encodable value: Value?, forKey key: StoreKey, coding: CodableCoding = .json
  ) async throws(StorageError) {
    try await Blocking.run { () throws(StorageError) in
      try self.save(encodable: value, forKey: key, coding: coding)
    }
  }
}
