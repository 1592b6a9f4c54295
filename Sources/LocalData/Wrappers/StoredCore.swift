public import CryptoCore
public import StorageCore

/// What the property wrappers over typed keys are made of: a key, and the router that it is read by.
///
/// Opaque: it is there for ``StoredKeyProperty``. Printing it shows the key.
public struct StoredCore<Key: StorageKey>: Sendable {
  let key: Key
  private let given: StorageRouter?

  init(_ key: Key, _ router: StorageRouter?) {
    self.key = key
    given = router
  }

  /// The router: the shared one, which may be a test's, where none was given.
  var router: StorageRouter { given ?? .shared }

  func load() throws(StorageError) -> Key.Value? {
    let core = router.core
    do throws(StorageError) {
      let value = try core.route(for: key).load()
      core.unreadable.withLock { $0[RouteKey(key)] = nil }
      return value
    } catch {
      core.unreadable.withLock { $0[RouteKey(key)] = error }
      throw error
    }
  }

  func save(_ value: Key.Value?) throws(StorageError) {
    let core = router.core
    let route = try core.route(for: key)
    if let value { try route.save(value) } else { try route.remove() }
    core.unreadable.withLock { $0[RouteKey(key)] = nil }
  }

  /// What a wrapper's getter does: an error is reported, and then there is nothing to return.
  func get() -> Key.Value? {
    do throws(StorageError) {
      return try load()
    } catch {
      StorageDiagnostics.report(error)
      return nil
    }
  }

  /// What a wrapper's setter does: it does not replace what could not be read.
  func set(_ value: Key.Value?) {
    do throws(StorageError) {
      try refuseToReplaceUnreadable()
      try save(value)
    } catch {
      StorageDiagnostics.report(error)
    }
  }

  private func refuseToReplaceUnreadable() throws(StorageError) {
    let core = router.core
    guard let error = core.unreadable.withLock({ $0[RouteKey(key)] }),
      try core.route(for: key).contains()
    else { return }
    throw StorageError(
      error.code,
      "the value was not replaced, since the last read of it failed: \(error.message). Use save(_:) or "
        + "remove() to replace it on purpose", key: key.name)
  }

  /// Stores an initial value, if the key has none.
  func register(_ value: Key.Value?) {
    guard let value else { return }
    do {
      let route = try router.core.route(for: key)
      guard try !route.contains() else { return }
      _ = try route.attemptBlocking { stored in if stored == nil { stored = value } }
    } catch {
      let error = error as? StorageError ?? StorageError(.io, "\(type(of: error)); this is a bug")
      StorageDiagnostics.report(error.about(key.name))
    }
  }
}

extension StoredCore: RedactedDescription {
  /// The key, and no value.
  public var description: String { "StoredCore(\(key.domain)/\(key.name))" }
}

/// What the property wrappers over typed keys offer through `$property`.
public protocol StoredKeyProperty<Key> {
  /// The type of the key.
  associatedtype Key: StorageKey
  /// Key and router.
  var core: StoredCore<Key> { get }
}

extension StoredKeyProperty {
  /// The key.
  public var key: Key { core.key }

  /// Removes the value, if there is one.
  ///
  /// - Throws: `StorageError`; the value is then still there, except with `outcomeUnknown`.
  public func remove() throws(StorageError) { try core.save(nil) }

  /// What the property holds: unlike the property itself, it tells absent from failed.
  public var state: PropertyState<Key.Value> {
    PropertyState { () throws(StorageError) in try core.load() }
  }

  /// As ``remove()``, without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``remove()``.
  public func removeAsync() async throws(StorageError) {
    try await core.router.remove(core.key)
  }

  /// Changes the value in one atomic step, across tasks and processes.
  ///
  /// - Parameter body: is given the value, or nil when there is none, and changes it; nil removes it.
  /// - Returns: what `body` returned the last time.
  /// - Throws: as `update` of the router.
  @discardableResult
  public func updateAsync<Result: Sendable>(
    _ body: @escaping @Sendable (inout Key.Value?) throws -> Result
  ) async throws -> Result {
    try await core.router.update(core.key, body)
  }
}
