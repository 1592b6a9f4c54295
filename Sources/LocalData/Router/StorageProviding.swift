public import StorageCore

/// What reads and writes the data of keys: ``StorageRouter``, or a stand-in for it in tests.
///
/// A promise: nil is absent and only that; what can't be read is an error, and never a default.
public protocol StorageProviding: Sendable {
  /// The value of a key, or nil when there is none.
  ///
  /// - Throws: `StorageError` when that can't be known.
  func get<Key: StorageKey>(_ key: Key) async throws(StorageError) -> Key.Value?

  /// Stores a value, durably where the place is durable, before it returns.
  ///
  /// - Throws: `StorageError`; the old value is then still there, except with `outcomeUnknown`.
  func set<Key: StorageKey>(_ value: Key.Value, for key: Key) async throws(StorageError)

  /// Removes the value of a key, if there is one.
  ///
  /// - Throws: `StorageError`; the value is then still there, except with `outcomeUnknown`.
  func remove(_ key: some StorageKey) async throws(StorageError)
}
