public import StorageCore

/// A router and a struct of keys: what is not in the struct can't be named.
public struct KeyedRouter<Keys: Sendable>: Sendable {
  /// The router.
  public let router: StorageRouter
  /// The keys.
  public let keys: Keys

  /// The value of a key, or nil when there is none.
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

  /// Removes the value of a key, if there is one.
  ///
  /// - Throws: as `remove` of the router.
  public func remove(_ path: KeyPath<Keys, some StorageKey>) async throws(StorageError) {
    try await router.remove(keys[keyPath: path])
  }

  /// Changes a value in one atomic step.
  ///
  /// - Returns: what `body` returned the last time.
  /// - Throws: as `update` of the router.
  @discardableResult
  public func update<Key: StorageKey, Result: Sendable>(
    _ path: KeyPath<Keys, Key>, _ body: @escaping @Sendable (inout Key.Value?) throws -> Result
  ) async throws -> Result {
    try await router.update(keys[keyPath: path], body)
  }
}
