public import CryptoCore
public import StorageCore

/// A property over a typed key; its default when there is no value.
///
///     @UnwrappedStored(StorageKeys.Launches()) var launches = 0
///
/// The default is never written. In everything else as ``Stored``.
@propertyWrapper
public struct UnwrappedStored<Key: StorageKey>: StoredKeyProperty, Sendable {
  /// Key and router.
  public let core: StoredCore<Key>
  /// What the property is when there is no value.
  public let defaultValue: Key.Value

  /// A property with a default.
  ///
  /// - Parameters:
  ///   - wrappedValue: the default.
  ///   - key: its key.
  ///   - router: what reads and writes it; nil is the shared one.
  public init(wrappedValue: Key.Value, _ key: Key, router: StorageRouter? = nil) {
    core = StoredCore(key, router)
    defaultValue = wrappedValue
  }

  /// The stored value, or the default when there is none or it could not be read.
  public var wrappedValue: Key.Value {
    get { core.get() ?? defaultValue }
    nonmutating set { core.set(newValue) }
  }

  /// The wrapper itself: `$property.load()` and the like.
  public var projectedValue: UnwrappedStored { self }

  /// The value, or the default when there is none.
  ///
  /// - Throws: `StorageError` when the value can't be read: the default is not an answer to that.
  public func load() throws(StorageError) -> Key.Value { try core.load() ?? defaultValue }

  /// Stores a value.
  ///
  /// - Throws: `StorageError`; the old value is then still there, except with `outcomeUnknown`.
  public func save(_ value: Key.Value) throws(StorageError) { try core.save(value) }

  /// As ``load()``, without blocking a thread of Swift concurrency, and of a provider's key as well.
  ///
  /// - Throws: as `get` of the router.
  public func loadAsync() async throws(StorageError) -> Key.Value {
    try await core.router.get(core.key) ?? defaultValue
  }

  /// As ``save(_:)``, without blocking a thread of Swift concurrency, and of a provider's key as well.
  ///
  /// - Throws: as `set` of the router.
  public func saveAsync(_ value: Key.Value) async throws(StorageError) {
    try await core.router.set(value, for: core.key)
  }
}

extension UnwrappedStored: RedactedDescription {
  /// The key, and neither value nor default.
  public var description: String { "UnwrappedStored(\(key.domain)/\(key.name))" }
}
