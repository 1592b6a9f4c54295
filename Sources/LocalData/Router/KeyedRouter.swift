public import StorageCore

/// A router with a struct of keys: only keys of the struct can be used.
public struct KeyedRouter<Keys: Sendable>: Sendable {
  /// The router.
  public let router: StorageRouter
  /// The keys.
  public let keys: Keys

  /// The value of a key, or nil if the key has no value.
  ///
  /// - Throws: as `get` of the router.
  public func get<Key: StorageKey>(
    _ path: KeyPath<Keys, Key>
  ) async throws(StorageError) -> Key.Value? {
    try await router.get(keys[keyPath: path])
  }

  /// Stores a value.
  ///
  /// - Throws: as `set` of the router.
  public func set<Key: StorageKey>(
    _ value: Key.Value, for path: KeyPath<Keys, Key>
  ) async throws(StorageError) {
    try await router.set(value, for: keys[keyPath: path])
  }

  /// Removes the value of a key, if it has one.
  ///
  /// - Throws: as `remove` of the router.
  public func remove(_ path: KeyPath<Keys, some StorageKey>) async throws(StorageError) {
    try await router.remove(keys[keyPath: path])
  }

  /// Changes a value in one atomic step.
  ///
  /// - Returns: the result of the last run of `body`.
  /// - Throws: as `update` of the router.
  @discardableResult
  public func update<Key: StorageKey, Result: Sendable>(
    _ path: KeyPath<Keys, Key>, _ body: @escaping @Sendable (inout Key.Value?) throws -> Result
  ) async throws -> Result {
    try await router.update(keys[keyPath: path], body)
  }
}
