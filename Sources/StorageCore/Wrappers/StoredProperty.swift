/// What all wrappers offer through `$property`: calls that throw where the property can't.
///
/// `Value` is the type of a stored value; a property of the optional wrappers is a `Value?`.
public protocol StoredProperty<Value, StorageType> {
  /// The type of a stored value.
  associatedtype Value
  /// The type of the storage.
  associatedtype StorageType: Storage

  /// Storage, name and coder.
  var core: PropertyCore<Value, StorageType> { get }
}

extension StoredProperty {
  /// The key.
  public var key: StoreKey { core.name.text }

  /// The storage.
  public var storage: StorageType { core.current }

  /// Removes the value, if there is one.
  ///
  /// - Throws: `StorageError`; the value is then still there, except with `outcomeUnknown`.
  public func remove() throws(StorageError) {
    try core.save(nil)
  }

  /// What the property holds: unlike the property itself, it tells absent from failed.
  public var state: PropertyState<Value> {
    PropertyState { () throws(StorageError) in try core.load() }
  }

  /// As ``state``, without blocking a thread of Swift concurrency.
  public func stateAsync() async -> PropertyState<Value> where Value: Sendable {
    let core = core
    return await Blocking.run { PropertyState { () throws(StorageError) in try core.load() } }
  }

  /// What the property holds now, then after every change; see ``PropertyStates``.
  public var states: PropertyStates<Value> {
    let core = core
    return PropertyStates(store: core.current.store, name: core.name, coder: core.coder)
  }

  /// Removes the value without blocking a thread of Swift concurrency.
  ///
  /// When the task is cancelled, a call that waits for the keyring's service ends with `cancelled`;
  /// one of another place ends as it would have. So with all of these.
  ///
  /// - Throws: as ``remove()``.
  public func removeAsync() async throws(StorageError) {
    let core = core
    try await Blocking.run { () throws(StorageError) in try core.save(nil) }
  }
}

/// A property that is `nil` when there is no value.
public protocol OptionalStoredProperty: StoredProperty {}

extension OptionalStoredProperty {
  /// The value, or nil when there is none.
  ///
  /// - Throws: `StorageError` when that can't be known, or the value can't be read.
  public func load() throws(StorageError) -> Value? {
    try core.load()
  }

  /// Stores a value, or removes it when it is nil; durable where the place is, before it returns.
  ///
  /// - Throws: `StorageError`; the old value is then still there, except with `outcomeUnknown`.
  public func save(_ value: Value?) throws(StorageError) {
    try core.save(value)
  }

  /// Changes the value in one atomic step, across threads and processes.
  ///
  /// - Parameter body: is given the value, or nil, and changes it; nil removes it. Runs outside all
  ///   locks, and again when somebody else wrote meanwhile.
  /// - Returns: what `body` returned the last time.
  /// - Throws: what `body` throws, or `StorageError`; the old value is then still there.
  @discardableResult
  public func update<Result>(_ body: (inout Value?) throws -> Result) throws -> Result {
    try core.current.store.update(core.name, core.coder, body)
  }

  /// The value now, then after every change; see ``PropertyValues``.
  public var values: PropertyValues<Value, Value?> {
    PropertyValues(states, report: core.current.report, fallback: nil) { $0 }
  }

  /// The value, without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``load()``.
  public func loadAsync() async throws(StorageError) -> Value? where Value: Sendable {
    let core = core
    return try await Blocking.run { () throws(StorageError) in try core.load() }
  }

  /// Stores or removes, without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``save(_:)``.
  public func saveAsync(_ value: Value?) async throws(StorageError) where Value: Sendable {
    let core = core
    try await Blocking.run { () throws(StorageError) in try core.save(value) }
  }

  /// Changes the value, without blocking a thread of Swift concurrency.
  ///
  /// - Returns: as ``update(_:)``.
  /// - Throws: as ``update(_:)``.
  @discardableResult
  public func updateAsync<Result: Sendable>(
    _ body: @escaping @Sendable (inout Value?) throws -> Result
  ) async throws -> Result {
    let core = core
    return try await Blocking.run { try core.current.store.update(core.name, core.coder, body) }
  }
}

/// A property that is its default when there is no value.
///
/// The default is never written.
public protocol DefaultedStoredProperty: StoredProperty {
  /// What the property is when there is no value.
  var defaultValue: Value { get }
}

extension DefaultedStoredProperty {
  /// The value, or the default when there is none.
  ///
  /// - Throws: `StorageError` when the value can't be read: the default is not an answer to that.
  public func load() throws(StorageError) -> Value {
    try core.load() ?? defaultValue
  }

  /// Stores a value; durable where the place is, before it returns.
  ///
  /// - Throws: `StorageError`; the old value is then still there, except with `outcomeUnknown`.
  public func save(_ value: Value) throws(StorageError) {
    try core.save(value)
  }

  /// Changes the value in one atomic step, across threads and processes.
  ///
  /// - Parameter body: is given the value, or the default when there is none, and changes it. Runs
  ///   outside all locks, and again when somebody else wrote meanwhile.
  /// - Returns: what `body` returned the last time.
  /// - Throws: what `body` throws, or `StorageError`; the old value is then still there.
  @discardableResult
  public func update<Result>(_ body: (inout Value) throws -> Result) throws -> Result {
    try core.current.store.update(core.name, core.coder) { value in
      var changed = value ?? defaultValue
      let result = try body(&changed)
      value = changed
      return result
    }
  }

  /// The value now, then after every change; see ``PropertyValues``.
  public var values: PropertyValues<Value, Value> {
    PropertyValues(states, report: core.current.report, fallback: defaultValue) { $0 }
  }

  /// The value, without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``load()``.
  public func loadAsync() async throws(StorageError) -> Value where Value: Sendable {
    let core = core
    return try await Blocking.run { () throws(StorageError) in try core.load() } ?? defaultValue
  }

  /// Stores a value, without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``save(_:)``.
  public func saveAsync(_ value: Value) async throws(StorageError) where Value: Sendable {
    let core = core
    try await Blocking.run { () throws(StorageError) in try core.save(value) }
  }

  /// Changes the value, without blocking a thread of Swift concurrency.
  ///
  /// - Returns: as ``update(_:)``.
  /// - Throws: as ``update(_:)``.
  @discardableResult
  public func updateAsync<Result: Sendable>(
    _ body: @escaping @Sendable (inout Value) throws -> Result
  ) async throws -> Result where Value: Sendable {
    let core = core
    let fallback = defaultValue
    return try await Blocking.run {
      try core.current.store.update(core.name, core.coder) { value in
        var changed = value ?? fallback
        let result = try body(&changed)
        value = changed
        return result
      }
    }
  }
}
