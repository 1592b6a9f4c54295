public import StorageCore

extension StorageRouter: StorageProviding {
  /// The value of a key, or nil when there is none.
  ///
  /// - Returns: the value, or nil.
  /// - Throws: `StorageError`: `unregisteredKey` once a catalog is registered that lacks the key,
  ///   `configurationConflict` when the value is stored in another way than is declared now, `unsupported`
  ///   for a policy that can't be kept here, `typeMismatch`, `damaged`, `wrongKey`, `keyUnavailable`,
  ///   `timedOut`, or why the place can't be read.
  public nonisolated func get<Key: StorageKey>(
    _ key: Key
  ) async throws(StorageError) -> Key.Value? {
    try await core.routeAsync(for: key).get()
  }

  /// Stores a value, durably where the place is durable, before it returns.
  ///
  /// - Parameters:
  ///   - value: the value.
  ///   - key: its key.
  /// - Throws: `StorageError`: as ``get(_:)``; `wrongKey` also when the old value is under other material
  ///   than a provider or the passcode gives now. The old value is then still there, except with
  ///   `outcomeUnknown`.
  public nonisolated func set<Key: StorageKey>(
    _ value: Key.Value, for key: Key
  ) async throws(StorageError) {
    try await core.routeAsync(for: key).set(value)
  }

  /// Removes the value of a key, if there is one, also one that can't be read.
  ///
  /// - Throws: `StorageError`: as ``get(_:)``; the value is then still there, except with
  ///   `outcomeUnknown`.
  public nonisolated func remove(_ key: some StorageKey) async throws(StorageError) {
    let core = core
    try await Blocking.run { () throws(StorageError) in try core.route(for: key).remove() }
  }

  /// Whether a key has a value, also one that can't be read.
  ///
  /// - Throws: `StorageError` when that can't be known.
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
  ///   - body: is given the value, or nil when there is none, and changes it; nil removes it. Runs on a
  ///     thread that may block, and again when somebody else wrote meanwhile.
  /// - Returns: what `body` returned the last time.
  /// - Throws: what `body` throws, or `StorageError`: as ``set(_:for:)``, and `busy` after 30 s of others'
  ///   writes.
  @discardableResult
  public nonisolated func update<Key: StorageKey, Result: Sendable>(
    _ key: Key, _ body: @escaping @Sendable (inout Key.Value?) throws -> Result
  ) async throws -> Result {
    try await core.routeAsync(for: key).update(body)
  }
}
