public import StorageCore

// The same calls without blocking a thread of Swift concurrency. When the task is cancelled, the
// call over the bus ends with `cancelled`; a question to the application for a passcode does not
// end.

extension Keyring.Container {
  /// As ``store(_:)``, without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``store(_:)``.
  public func storeAsync<Value: Encodable & Sendable>(_ value: Value) async throws(StorageError) {
    try await Blocking.run { () throws(StorageError) in try self.store(value) }
  }

  /// As ``fetch(_:)``, without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``fetch(_:)``.
  public func fetchAsync<Value: Decodable & Sendable>(
    _ type: Value.Type = Value.self
  ) async throws(StorageError) -> Value? {
    try await Blocking.run { () throws(StorageError) in try self.fetch(Value.self) }
  }

  /// As ``isEmpty``, without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``isEmpty``.
  public func isEmptyAsync() async throws(StorageError) -> Bool {
    try await Blocking.run { () throws(StorageError) in try self.isEmpty }
  }

  /// As ``drop(_:)``, without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``drop(_:)``.
  public func dropAsync<Value: Decodable & Sendable>(
    _ type: Value.Type = Value.self
  ) async throws(StorageError) -> Value? {
    try await Blocking.run { () throws(StorageError) in try self.drop(Value.self) }
  }

  /// As ``empty()``, without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``empty()``.
  public func emptyAsync() async throws(StorageError) {
    try await Blocking.run { () throws(StorageError) in try self.empty() }
  }

  /// As ``copy(to:)``, without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``copy(to:)``.
  @discardableResult
  public func copyAsync(to container: Keyring.Container) async throws(StorageError) -> Bool {
    try await Blocking.run { () throws(StorageError) in try self.copy(to: container) }
  }

  /// As ``move(to:)``, without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``move(to:)``.
  @discardableResult
  public func moveAsync(to container: Keyring.Container) async throws(StorageError) -> Bool {
    try await Blocking.run { () throws(StorageError) in try self.move(to: container) }
  }
}
