/// The calls for async code: each blocks a thread of its own, and none of Swift concurrency.
///
/// A cancelled task ends its call where the place can be told, as the desktop's keyring can:
/// `cancelled`, or `outcomeUnknown` in the write itself.
extension Storage {
  /// As ``load(_:forKey:)``.
  ///
  /// - Throws: as ``load(_:forKey:)``.
  public func loadAsync<Value: Sendable>(
    _ type: Value.Type = Value.self, forKey key: StoreKey
  ) async throws(StorageError) -> Value? {
    try await Blocking.run { () throws(StorageError) in
      try self.load(Value.self, forKey: key)
    }
  }

  /// As ``save(_:forKey:)``.
  ///
  /// - Throws: as ``save(_:forKey:)``.
  public func saveAsync<Value: Sendable>(
    _ value: Value?, forKey key: StoreKey
  ) async throws(StorageError) {
    try await Blocking.run { () throws(StorageError) in try self.save(value, forKey: key) }
  }

  /// As ``saveIfAbsent(_:forKey:)``.
  ///
  /// - Returns: whether it was stored.
  /// - Throws: as ``saveIfAbsent(_:forKey:)``.
  @discardableResult
  public func saveIfAbsentAsync<Value: Sendable>(
    _ value: Value, forKey key: StoreKey
  ) async throws(StorageError) -> Bool {
    try await Blocking.run { () throws(StorageError) in
      try self.saveIfAbsent(value, forKey: key)
    }
  }

  /// As ``update(_:forKey:_:)``.
  ///
  /// - Returns: what `body` returned the last time.
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

  /// As ``contains(_:)``.
  ///
  /// - Throws: as ``contains(_:)``.
  public func containsAsync(_ key: StoreKey) async throws(StorageError) -> Bool {
    try await Blocking.run { () throws(StorageError) in try self.contains(key) }
  }

  /// As ``keys()``.
  ///
  /// - Throws: as ``keys()``.
  public func keysAsync() async throws(StorageError) -> [StoreKey] {
    try await Blocking.run { () throws(StorageError) in try self.keys() }
  }

  /// As ``removeAll()``.
  ///
  /// - Throws: as ``removeAll()``.
  public func removeAllAsync() async throws(StorageError) {
    try await Blocking.run { () throws(StorageError) in try self.removeAll() }
  }
}

extension DelegatedStorage {
  /// As ``open()``, for async code.
  ///
  /// - Throws: as ``open()``.
  public func openAsync() async throws(StorageError) {
    try await Blocking.run { () throws(StorageError) in try self.open() }
  }
}
