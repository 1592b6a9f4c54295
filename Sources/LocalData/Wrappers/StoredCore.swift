public import CryptoCore
public import StorageCore

/// The source of the wrappers of typed keys: a key and its router.
///
/// Opaque; only `StoredProperty` needs it. Printing it shows the key.
public struct StoredCore<Key: StorageKey>: UpdatableSource {
  let key: Key
  private let given: StorageRouter?

  init(_ key: Key, _ router: StorageRouter?) {
    self.key = key
    given = router
  }

  /// The given router, or else the shared router, which a test may replace.
  public var home: StorageRouter { given ?? .shared }

  /// The name of the key.
  public var name: StoreKey { key.name }

  /// Remembers whether the last read failed.
  public var failedRead: FailedRead { home.core.failedRead(of: key) }

  private func route() throws(StorageError) -> Route<Key.Value> {
    try home.core.route(for: key)
  }

  /// Reads the value; nil when there is none.
  public func load() throws(StorageError) -> Key.Value? {
    do throws(StorageError) {
      let route = try route()
      let value = try route.load()
      route.failedRead.forget()
      return value
    } catch {
      failedRead.remember(error)
      throw error
    }
  }

  /// Stores a value, or removes it when `value` is nil.
  public func save(_ value: Key.Value?) throws(StorageError) {
    if let value { try route().save(value) } else { try route().remove() }
    failedRead.forget()
  }

  /// Changes the value in one atomic step.
  public func update<Result>(_ body: (inout Key.Value?) throws -> Result) throws -> Result {
    let result = try route().updateBlocking(body)
    failedRead.forget()
    return result
  }

  /// Whether there is a value, even if it can't be read.
  public func contains() throws(StorageError) -> Bool { try route().contains() }

  /// Passes an error to `StorageDiagnostics`.
  public func report(_ error: StorageError) { StorageDiagnostics.report(error) }

  /// Reads the value through the router, which can also ask a provider for the key's material.
  public func loadAsync() async throws(StorageError) -> Key.Value? { try await home.get(key) }

  /// Stores or removes the value through the router, which can also ask a provider.
  public func saveAsync(_ value: Key.Value?) async throws(StorageError) {
    guard let value else { return try await home.remove(key) }
    try await home.set(value, for: key)
  }

  /// Changes the value through the router, which can also ask a provider.
  public func updateAsync<Result: Sendable>(
    _ body: @escaping @Sendable (inout Key.Value?) throws -> Result
  ) async throws -> Result {
    try await home.update(key, body)
  }
}

extension RouterCore {
  /// Remembers whether the last read of a key failed.
  ///
  /// Keys of one domain and name have one value, whatever their types.
  func failedRead(of key: some StorageKey) -> FailedRead {
    FailedRead("\(key.domain)/\(key.name)", in: failedReads, key: key.name)
  }
}

extension StoredCore: RedactedDescription {
  /// The key, and no value.
  public var description: String { "StoredCore(\(key.domain)/\(key.name))" }
}
