/// The same calls for async code.
///
/// Each call runs on a dedicated thread and blocks no thread of Swift concurrency.
///
/// Cancelling the task ends the call where the place supports that, as the desktop's keyring does.
/// The call then throws `cancelled`, or `outcomeUnknown` when it was already writing.
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
  /// - Returns: whether the value was stored.
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

  /// As ``listing()``.
  ///
  /// - Throws: as ``listing()``.
  public func listingAsync() async throws(StorageError) -> KeyListing {
    try await Blocking.run { () throws(StorageError) in try self.listing() }
  }

  /// As ``summary(forKey:)``.
  ///
  /// - Throws: as ``summary(forKey:)``.
  public func summaryAsync(forKey key: StoreKey) async throws(StorageError) -> ValueSummary? {
    try await Blocking.run { () throws(StorageError) in try self.summary(forKey: key) }
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

  /// As ``transaction(deadline:_:)``.
  ///
  /// - Returns: what the last run of `body` returned.
  /// - Throws: as ``transaction(deadline:_:)``.
  @discardableResult
  public func transactionAsync<Result: Sendable>(
    deadline: Duration = .seconds(30),
    _ body: @escaping @Sendable (StorageTransaction) throws -> Result
  ) async throws -> Result {
    try await Blocking.run { try self.transaction(deadline: deadline, body) }
  }

  /// As ``saveAll(_:)``.
  ///
  /// - Throws: as ``saveAll(_:)``.
  public func saveAllAsync(
    _ values: [StoreKey: (any Sendable)?]
  ) async throws(StorageError) {
    try await Blocking.run { () throws(StorageError) in try self.saveAll(values) }
  }

  /// As ``removeAll()``.
  ///
  /// - Throws: as ``removeAll()``.
  public func removeAllAsync() async throws(StorageError) {
    try await Blocking.run { () throws(StorageError) in try self.removeAll() }
  }
}

extension DelegatedStorage {
  /// As ``open(_:)``, for async code.
  ///
  /// - Throws: as ``open(_:)``.
  public func openAsync(
    _ existence: StoreExistence = .madeIfMissing
  ) async throws(StorageError) {
    try await Blocking.run { () throws(StorageError) in try self.open(existence) }
  }
}

extension SecureStorage {
  /// As ``migrate(from:to:onConflict:removingFromSource:progress:)``, for async code.
  ///
  /// - Returns: what happened to the values.
  /// - Throws: as ``migrate(from:to:onConflict:removingFromSource:progress:)``.
  @discardableResult
  public static func migrateAsync(
    from source: some Storage, to destination: some Storage,
    onConflict policy: MigrationConflictPolicy = .keepBoth, removingFromSource: Bool = true,
    progress: (@Sendable (_ done: Int, _ total: Int) -> Void)? = nil
  ) async throws(StorageError) -> MigrationReport {
    try await Blocking.run { () throws(StorageError) in
      try migrate(
        from: source, to: destination, onConflict: policy, removingFromSource: removingFromSource,
        progress: progress)
    }
  }
}
