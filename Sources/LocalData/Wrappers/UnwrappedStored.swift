public import CryptoCore
public import StorageCore

/// A property over a typed key; the default if there is no value.
///
///     @UnwrappedStored(StorageKeys.Launches()) var launches = 0
///
/// The default is never written. Otherwise it works like ``Stored``.
@propertyWrapper
public struct UnwrappedStored<Key: StorageKey>: DefaultedStoredProperty, Sendable {
  /// The key and the router.
  public let core: StoredCore<Key>
  /// The value of the property if no value is stored.
  public let defaultValue: Key.Value

  /// Creates a property with a default.
  ///
  /// - Parameters:
  ///   - wrappedValue: the default.
  ///   - key: its key.
  ///   - router: reads and writes the key; nil is the shared router.
  public init(wrappedValue: Key.Value, _ key: Key, router: StorageRouter? = nil) {
    core = StoredCore(key, router)
    defaultValue = wrappedValue
  }

  /// The stored value, or the default if there is none or it could not be read.
  public var wrappedValue: Key.Value {
    get { core.get() ?? defaultValue }
    nonmutating set { core.set(newValue) }
  }

  /// The wrapper itself: `$property.load()` and the like.
  public var projectedValue: UnwrappedStored { self }

  /// The key.
  public var key: Key { core.key }
}

extension UnwrappedStored: RedactedDescription {
  /// The key, and neither value nor default.
  public var description: String { "UnwrappedStored(\(key.domain)/\(key.name))" }
}
