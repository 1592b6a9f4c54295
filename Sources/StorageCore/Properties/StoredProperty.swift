/// What all wrappers offer through `$property`: calls that throw, which a property can't do.
///
/// `Value` is the type of the stored value. A property of an optional wrapper has the type
/// `Value?`. Wrappers of storages, sealed files, typed keys and credentials conform.
///
/// Async calls and sequences decode on no actor. The compiler therefore refuses them for a type
/// whose `Codable` conformance belongs to an actor, as all types have it under `-default-isolation
/// MainActor`: mark the type `nonisolated`. Other calls run where they are made.
public protocol StoredProperty<Value>: BlockingCalls {
  /// The type of the stored value.
  associatedtype Value
  /// The type of ``core``.
  associatedtype Core: PropertySource<Value>

  /// Where the value is, and how it is encoded.
  var core: Core { get }
}

extension StoredProperty {
  /// The key.
  public var key: StoreKey { core.name }

  /// Removes the value, if there is one.
  ///
  /// - Throws: `StorageError`. The value then remains, except after `outcomeUnknown`, when it may
  ///   or may not have been removed.
  public func remove() throws(StorageError) {
    try core.save(nil)
  }

  /// The current state of the property; unlike the property itself, it tells absent from failed.
  public var state: PropertyState<Value> {
    PropertyState { () throws(StorageError) in try core.load() }
  }

  /// Removes the value without blocking a thread of Swift concurrency.
  ///
  /// When the task is cancelled, a call that waits for the keyring's service ends with `cancelled`.
  /// Calls to other places ignore cancellation. This holds for all async calls of a property. Other
  /// calls, such as ``state``, are made with `async(_:)`.
  ///
  /// - Throws: as ``remove()``.
  public func removeAsync() async throws(StorageError) {
    try await core.removeAsync()
  }
}

extension StoredProperty where Core.Home: Storage {
  /// The storage.
  public var storage: Core.Home { core.home }
}

extension StoredProperty where Core: ObservedSource, Self: SendableMetatype {
  /// The state of the property now, then after every change; see `PropertyStates`.
  public var states: Core.States { core.states }
}

/// A property that is `nil` when there is no value.
public protocol OptionalStoredProperty<Value>: StoredProperty {}

extension OptionalStoredProperty {
  /// Reads the value; nil when there is none.
  ///
  /// - Throws: `StorageError` when the store can't be read or the value can't be decoded.
  public func load() throws(StorageError) -> Value? {
    try core.load()
  }

  /// Stores a value, or removes it when `value` is nil.
  ///
  /// Where the place is durable, the change is durable when this returns.
  ///
  /// - Throws: `StorageError`. The old value then remains, except after `outcomeUnknown`, when the
  ///   change may or may not have been stored.
  public func save(_ value: Value?) throws(StorageError) {
    try core.save(value)
  }

  /// Reads the value without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``load()``.
  public func loadAsync() async throws(StorageError) -> Value?
  where Value: Sendable, Self: SendableMetatype {
    try await core.loadAsync()
  }

  /// Stores or removes the value without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``save(_:)``.
  public func saveAsync(_ value: Value?) async throws(StorageError)
  where Value: Sendable, Self: SendableMetatype {
    try await core.saveAsync(value)
  }
}

extension OptionalStoredProperty where Core: UpdatableSource {
  /// Changes the value in one atomic step, across threads and processes.
  ///
  /// - Parameter body: gets the value, or nil when there is none, and changes it; setting it to nil
  ///   removes the value. `body` runs outside all locks, and runs again if another thread or
  ///   process wrote meanwhile.
  /// - Returns: what the last run of `body` returned.
  /// - Throws: what `body` throws, or `StorageError`. The old value then remains, except after
  ///   `outcomeUnknown`, when the change may or may not have been stored.
  @discardableResult
  public func update<Result>(_ body: (inout Value?) throws -> Result) throws -> Result {
    try core.update(body)
  }

  /// Changes the value without blocking a thread of Swift concurrency.
  ///
  /// - Returns: as ``update(_:)``.
  /// - Throws: as ``update(_:)``.
  @discardableResult
  public func updateAsync<Result: Sendable>(
    _ body: @escaping @Sendable (inout Value?) throws -> Result
  ) async throws -> Result where Self: SendableMetatype {
    try await core.updateAsync(body)
  }
}

extension OptionalStoredProperty
where Core: ObservedSource, Core.States == PropertyStates<Value>, Self: SendableMetatype {
  /// The value now, then after every change; see ``PropertyValues``.
  public var values: PropertyValues<Value, Value?> {
    PropertyValues(states, report: core.report, fallback: nil) { $0 }
  }
}

/// A property that has a default, which it returns when there is no value.
///
/// The default is never stored.
public protocol DefaultedStoredProperty<Value>: StoredProperty {
  /// The value of the property when the storage has none.
  var defaultValue: Value { get }
}

extension DefaultedStoredProperty {
  /// Reads the value, or returns the default when there is none.
  ///
  /// - Throws: `StorageError` when the value can't be read. The default is not returned in that
  ///   case.
  public func load() throws(StorageError) -> Value {
    try core.load() ?? defaultValue
  }

  /// Stores a value.
  ///
  /// Where the place is durable, the value is durable when this returns.
  ///
  /// - Throws: `StorageError`. The old value then remains, except after `outcomeUnknown`, when the
  ///   new value may or may not have been stored.
  public func save(_ value: Value) throws(StorageError) {
    try core.save(value)
  }

  /// Reads the value without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``load()``.
  public func loadAsync() async throws(StorageError) -> Value
  where Value: Sendable, Self: SendableMetatype {
    try await core.loadAsync() ?? defaultValue
  }

  /// Stores a value without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``save(_:)``.
  public func saveAsync(_ value: Value) async throws(StorageError)
  where Value: Sendable, Self: SendableMetatype {
    try await core.saveAsync(value)
  }
}

extension DefaultedStoredProperty where Core: UpdatableSource {
  /// Changes the value in one atomic step, across threads and processes.
  ///
  /// - Parameter body: gets the value, or the default when there is none, and changes it. `body`
  ///   runs outside all locks, and runs again if another thread or process wrote meanwhile.
  /// - Returns: what the last run of `body` returned.
  /// - Throws: what `body` throws, or `StorageError`. The old value then remains, except after
  ///   `outcomeUnknown`, when the change may or may not have been stored.
  @discardableResult
  public func update<Result>(_ body: (inout Value) throws -> Result) throws -> Result {
    try core.update { value in
      var changed = value ?? defaultValue
      let result = try body(&changed)
      value = changed
      return result
    }
  }

  /// Changes the value without blocking a thread of Swift concurrency.
  ///
  /// - Returns: as ``update(_:)``.
  /// - Throws: as ``update(_:)``.
  @discardableResult
  public func updateAsync<Result: Sendable>(
    _ body: @escaping @Sendable (inout Value) throws -> Result
  ) async throws -> Result where Value: Sendable, Self: SendableMetatype {
    let fallback = defaultValue
    return try await core.updateAsync { value in
      var changed = value ?? fallback
      let result = try body(&changed)
      value = changed
      return result
    }
  }
}

extension DefaultedStoredProperty
where Core: ObservedSource, Core.States == PropertyStates<Value>, Self: SendableMetatype {
  /// The value now, then after every change; see ``PropertyValues``.
  public var values: PropertyValues<Value, Value> {
    PropertyValues(states, report: core.report, fallback: defaultValue) { $0 }
  }
}
