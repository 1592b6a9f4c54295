public import StorageCore

/// Reads and writes the data of keys: ``StorageRouter``, or a replacement for it in tests.
///
/// An implementation promises: nil means absent and only that. A value that can't be read throws an
/// error and never becomes a default.
public protocol StorageProviding: Sendable {
  /// The value of a key, or nil if the key has no value.
  ///
  /// - Throws: `StorageError` if that can't be determined.
  func get<Key: StorageKey>(_ key: Key) async throws(StorageError) -> Key.Value?

  /// Stores a value. If the place is durable, the value is durable before this returns.
  ///
  /// - Throws: `StorageError`; the old value then still exists, except with `outcomeUnknown`.
  func set<Key: StorageKey>(_ value: Key.Value, for key: Key) async throws(StorageError)

  /// Removes the value of a key, if it has one.
  ///
  /// - Throws: `StorageError`; the value then still exists, except with `outcomeUnknown`.
  func remove(_ key: some StorageKey) async throws(StorageError)
}
