public import CryptoCore
public import StorageCore

/// The common part of the property wrappers over typed keys: a key and its router.
///
/// Opaque; it exists for ``StoredKeyProperty``. Printing it shows the key.
public struct StoredCore<Key: StorageKey>: Sendable {
  let key: Key
  private let given: StorageRouter?

  init(_ key: Key, _ router: StorageRouter?) {
    self.key = key
    given = router
  }

  /// The given router, or else the shared router, which a test may replace.
  var router: StorageRouter { given ?? .shared }

  func load() throws(StorageError) -> Key.Value? {
    let core = router.core
    do throws(StorageError) {
      let value = try core.route(for: key).load()
      core.failedReads.forget(title)
      return value
    } catch {
      core.failedReads.remember(title, error)
      throw error
    }
  }

  func save(_ value: Key.Value?) throws(StorageError) {
    let core = router.core
    let route = try core.route(for: key)
    if let value { try route.save(value) } else { try route.remove() }
    core.failedReads.forget(title)
  }

  /// The getter of a wrapper: it reports an error and returns nil.
  func get() -> Key.Value? {
    do throws(StorageError) {
      return try load()
    } catch {
      router.core.failedReads.remember(title, error, gaveDefault: true)
      StorageDiagnostics.report(error)
      return nil
    }
  }

  /// The setter of a wrapper: it does not replace a value that could not be read.
  func set(_ value: Key.Value?) {
    do throws(StorageError) {
      let core = router.core
      try core.failedReads.checkAssignment(to: title) { () throws(StorageError) in
        try core.route(for: key).contains()
      }
      try save(value)
    } catch {
      StorageDiagnostics.report(error)
    }
  }

  /// Names the value: keys of one domain and name share it, whatever their types.
  private var title: String { "\(key.domain)/\(key.name)" }

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

/// The calls that the property wrappers over typed keys offer through `$property`.
public protocol StoredKeyProperty<Key> {
  /// The type of the key.
  associatedtype Key: StorageKey
  /// The key and the router.
  var core: StoredCore<Key> { get }
}

extension StoredKeyProperty {
  /// The key.
  public var key: Key { core.key }

  /// Removes the value, if there is one.
  ///
  /// - Throws: `StorageError`; the value then still exists, except with `outcomeUnknown`.
  public func remove() throws(StorageError) { try core.save(nil) }

  /// The state of the property; unlike the property itself, it distinguishes absent from failed.
  public var state: PropertyState<Key.Value> {
    PropertyState { () throws(StorageError) in try core.load() }
  }

  /// Like ``remove()``, but blocks no thread of Swift concurrency.
  ///
  /// - Throws: as ``remove()``.
  public func removeAsync() async throws(StorageError) {
    try await core.router.remove(core.key)
  }

  /// Changes the value in one atomic step, across tasks and processes.
  ///
  /// - Parameter body: receives the value, or nil if there is none, and changes it; setting nil removes it.
  /// - Returns: the result of the last run of `body`.
  /// - Throws: as `update` of the router.
  @discardableResult
  public func updateAsync<Result: Sendable>(
    _ body: @escaping @Sendable (inout Key.Value?) throws -> Result
  ) async throws -> Result {
    try await core.router.update(core.key, body)
  }
}
