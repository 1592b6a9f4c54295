internal import CryptoCore
public import StorageCore

/// What all wrappers of sealed files offer through `$property`: calls that throw where the property
/// can't.
public protocol SealedFileProperty<Value>: BlockingCalls {
  /// The type of a stored value.
  associatedtype Value

  /// Folder, name and coding.
  var core: SealedFileCore<Value> { get }
}

extension SealedFileProperty {
  /// The name.
  public var name: StoreKey { core.name }

  /// The folder.
  public var folder: SealedFolder { core.folder }

  /// Removes the value, if there is one.
  ///
  /// - Throws: `StorageError`; the value is then still there, except with `outcomeUnknown`.
  public func remove() throws(StorageError) { try core.save(nil) }

  /// As ``remove()``, without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``remove()``.
  public func removeAsync() async throws(StorageError) {
    let core = core
    try await Blocking.run { () throws(StorageError) in try core.save(nil) }
  }

  /// What the property holds: unlike the property itself, it tells absent from failed.
  public var state: PropertyState<Value> {
    PropertyState { () throws(StorageError) in try core.load() }
  }

  /// What the file is now, then after every change; see ``SealedFolder/states(named:)``.
  public var states: SealedFileStates { core.folder.states(named: core.name) }
}

/// A property that is `nil` when there is no value.
public protocol OptionalSealedFileProperty: SealedFileProperty {}

extension OptionalSealedFileProperty {
  /// The value, or nil when there is none.
  ///
  /// - Throws: `StorageError` when that can't be known, or the value can't be read.
  public func load() throws(StorageError) -> Value? { try core.load() }

  /// Stores a value, durably, before it returns; nil removes it.
  ///
  /// - Throws: `StorageError`; the old value is then still there, except with `outcomeUnknown`.
  public func save(_ value: Value?) throws(StorageError) { try core.save(value) }

  /// Changes the value in one atomic step, across threads and processes.
  ///
  /// - Parameter body: is given the value, or nil, and changes it; nil removes it. Runs outside all
  ///   locks, and again when somebody else wrote meanwhile.
  /// - Returns: what `body` returned the last time.
  /// - Throws: what `body` throws, or `StorageError`; the old value is then still there.
  @discardableResult
  public func update<Result>(_ body: (inout Value?) throws -> Result) throws -> Result {
    try core.update(body)
  }

  /// As ``load()``, without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``load()``.
  public func loadAsync() async throws(StorageError) -> Value? where Value: Sendable {
    let core = core
    return try await Blocking.run { () throws(StorageError) in try core.load() }
  }

  /// As ``save(_:)``, without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``save(_:)``.
  public func saveAsync(_ value: Value?) async throws(StorageError) where Value: Sendable {
    let core = core
    try await Blocking.run { () throws(StorageError) in try core.save(value) }
  }
}

/// A property that is its default when there is no value; the default is never written.
public protocol DefaultedSealedFileProperty: SealedFileProperty {
  /// What the property is when there is no value.
  var defaultValue: Value { get }
}

extension DefaultedSealedFileProperty {
  /// The value, or the default when there is none.
  ///
  /// - Throws: `StorageError` when the value can't be read: the default is not an answer to that.
  public func load() throws(StorageError) -> Value { try core.load() ?? defaultValue }

  /// Stores a value, durably, before it returns.
  ///
  /// - Throws: `StorageError`; the old value is then still there, except with `outcomeUnknown`.
  public func save(_ value: Value) throws(StorageError) { try core.save(value) }

  /// Changes the value in one atomic step, across threads and processes.
  ///
  /// - Parameter body: is given the value, or the default, and changes it. Runs outside all locks, and
  ///   again when somebody else wrote meanwhile.
  /// - Returns: what `body` returned the last time.
  /// - Throws: what `body` throws, or `StorageError`; the old value is then still there.
  @discardableResult
  public func update<Result>(_ body: (inout Value) throws -> Result) throws -> Result {
    try core.update { value in
      var changed = value ?? defaultValue
      let result = try body(&changed)
      value = changed
      return result
    }
  }

  /// As ``load()``, without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``load()``.
  public func loadAsync() async throws(StorageError) -> Value where Value: Sendable {
    let core = core
    return try await Blocking.run { () throws(StorageError) in try core.load() } ?? defaultValue
  }

  /// As ``save(_:)``, without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``save(_:)``.
  public func saveAsync(_ value: Value) async throws(StorageError) where Value: Sendable {
    let core = core
    try await Blocking.run { () throws(StorageError) in try core.save(value) }
  }
}
