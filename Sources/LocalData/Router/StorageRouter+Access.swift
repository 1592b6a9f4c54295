public import StorageCore

extension StorageRouter: StorageProviding {
  /// The value of a key.
  ///
  /// - Returns: the value, or nil if the key has no value.
  /// - Throws: `StorageError`: `unregisteredKey` if catalogs are registered and none contains the
  ///   key, `configurationConflict` if the value is stored in another way than the key now
  ///   declares, `unsupported` for a policy that this machine can't keep, `typeMismatch`,
  ///   `damaged`, `wrongKey`, `keyUnavailable`, `timedOut`, or why the place can't be read.
  public nonisolated func get<Key: StorageKey>(
    _ key: Key
  ) async throws(StorageError) -> Key.Value? {
    do throws(StorageError) {
      let route = try await core.routeAsync(for: key)
      let value = try await route.get()
      route.failedRead.forget()
      return value
    } catch {
      core.failedRead(of: key).remember(error, isProperty: false)
      throw error
    }
  }

  /// Stores a value.
  ///
  /// If the place is durable, the value is durable before this returns.
  ///
  /// - Parameters:
  ///   - value: the value.
  ///   - key: its key.
  /// - Throws: `StorageError`: as ``get(_:)``. `wrongKey` also if the old value is under other
  ///   material than the provider or the passcode gives now. The old value then still exists,
  ///   except with `outcomeUnknown`.
  public nonisolated func set<Key: StorageKey>(
    _ value: Key.Value, for key: Key
  ) async throws(StorageError) {
    try await core.routeAsync(for: key).set(value)
    core.failedRead(of: key).forget()
  }

  /// Removes the value of a key, if it has one; also removes a value that can't be read.
  ///
  /// - Throws: `StorageError`: as ``get(_:)``. The value then still exists, except with
  ///   `outcomeUnknown`.
  public nonisolated func remove(_ key: some StorageKey) async throws(StorageError) {
    let core = core
    try await Blocking.run { () throws(StorageError) in try core.route(for: key).remove() }
    core.failedRead(of: key).forget()
  }

  /// Whether a key has a value; a value that can't be read counts too.
  ///
  /// - Throws: `StorageError` if that can't be determined.
  public nonisolated func contains(_ key: some StorageKey) async throws(StorageError) -> Bool {
    let core = core
    return try await Blocking.run { () throws(StorageError) in
      try core.route(for: key).contains()
    }
  }

  /// Changes a value in one atomic step, across tasks and processes.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - body: receives the value, or nil if there is none, and changes it; setting nil removes it.
  ///     `body` runs on a thread that may block. It runs again if another task or process wrote
  ///     meanwhile.
  /// - Returns: the result of the last run of `body`.
  /// - Throws: an error of `body`, or `StorageError`: as ``set(_:for:)``, and `busy` if others kept
  ///   writing for 30 s.
  @discardableResult
  public nonisolated func update<Key: StorageKey, Result: Sendable>(
    _ key: Key, _ body: @escaping @Sendable (inout Key.Value?) throws -> Result
  ) async throws -> Result {
    let result = try await core.routeAsync(for: key).update(body)
    core.failedRead(of: key).forget()
    return result
  }
}
