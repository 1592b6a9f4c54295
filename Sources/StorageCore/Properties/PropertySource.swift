/// One value of one place: what a property wrapper stands on.
///
/// A source knows where its value is and how it is encoded. All wrappers share the rest: the calls
/// of ``StoredProperty``, and the rule for assignments after a failed read.
public protocol PropertySource<Value>: Sendable {
  /// The type of the stored value.
  associatedtype Value
  /// The type of the place.
  associatedtype Home

  /// The name of the value.
  var name: StoreKey { get }
  /// The place.
  var home: Home { get }
  /// What is remembered of the last read.
  var failedRead: FailedRead { get }

  /// Reads the value; nil when there is none.
  ///
  /// Remembers in ``failedRead`` whether the read failed.
  func load() throws(StorageError) -> Value?
  /// Stores a value, or removes it when `value` is nil, and forgets that a read failed.
  func save(_ value: Value?) throws(StorageError)
  /// Whether there is a value, even if it can't be read.
  func contains() throws(StorageError) -> Bool
  /// Receives an error of a getter or setter.
  func report(_ error: StorageError)

  /// Reads the value without blocking a thread of Swift concurrency.
  func loadAsync() async throws(StorageError) -> Value?
  /// Stores or removes the value without blocking a thread of Swift concurrency.
  func saveAsync(_ value: sending Value?) async throws(StorageError)
  /// Removes the value without blocking a thread of Swift concurrency.
  func removeAsync() async throws(StorageError)
}

/// A source that changes its value in one atomic step, across threads and processes.
public protocol UpdatableSource: PropertySource {
  /// Changes the value; nil stands for an absent one.
  func update<Result>(_ body: (inout Value?) throws -> Result) throws -> Result
  /// Changes the value without blocking a thread of Swift concurrency.
  func updateAsync<Result: Sendable>(
    _ body: @escaping @Sendable (inout Value?) throws -> Result
  ) async throws -> Result
}

/// A source that tells of the changes of its value.
public protocol ObservedSource: PropertySource {
  /// The type of ``states``.
  associatedtype States: AsyncSequence

  /// The state now, then after every change.
  var states: States { get }
}

extension PropertySource {
  /// Implements a wrapper's getter: reports an error and then returns nil.
  @inlinable
  package func get() -> Value? {
    do throws(StorageError) {
      return try load()
    } catch {
      failedRead.remember(error, gaveDefault: true)
      report(error)
      return nil
    }
  }

  /// Implements a wrapper's setter: refuses to replace an unreadable value, and reports errors.
  @inlinable
  package func set(_ value: Value?) {
    do throws(StorageError) {
      try checkAssignment()
      try save(value)
    } catch {
      report(error)
    }
  }

  /// Throws if an assigned value may be computed from the default of a failed read.
  @inlinable
  package func checkAssignment() throws(StorageError) {
    try failedRead.checkAssignment { () throws(StorageError) in try contains() }
  }

  /// Reads the value on a thread that may block.
  public func loadAsync() async throws(StorageError) -> Value? { try await loadBlocking() }

  func loadBlocking() async throws(StorageError) -> Value? {
    let loaded = try await Blocking.run { () throws(StorageError) in
      Handover(value: try load())
    }
    return loaded.value
  }

  /// Stores or removes the value on a thread that may block.
  public func saveAsync(_ value: sending Value?) async throws(StorageError) {
    let given = Handover(value: value)
    try await Blocking.run { () throws(StorageError) in try save(given.value) }
  }

  /// Removes the value on a thread that may block.
  public func removeAsync() async throws(StorageError) {
    try await Blocking.run { () throws(StorageError) in try save(nil) }
  }
}

extension UpdatableSource {
  /// Stores an initial value only if there is no value.
  package func register(_ value: Value?) {
    guard let value else { return }
    do throws(StorageError) {
      // If there is a value of any type, this costs one look and no write.
      guard try !contains() else { return }
      try storageErrors { try update { stored in if stored == nil { stored = value } } }
    } catch {
      report(error.about(name))
    }
  }

  /// Changes the value on a thread that may block.
  public func updateAsync<Result: Sendable>(
    _ body: @escaping @Sendable (inout Value?) throws -> Result
  ) async throws -> Result {
    try await Blocking.run { try update(body) }
  }
}

/// A value on its way to another thread, by which its sender gives it up.
///
/// Unchecked, because `Value` may be any type; only one thread at a time has the value.
private struct Handover<Value>: @unchecked Sendable {
  let value: Value
}
