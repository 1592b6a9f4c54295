public import CryptoCore
public import StorageCore

/// A property over a typed key; nil if there is no value.
///
///     @Stored(StorageKeys.UserToken()) var token: String?
///
/// Reading and assigning block. If the place fails, reading gives nil and reports the error to
/// `StorageDiagnostics`; `$token.load()` throws the error. After a failed read, assignments are
/// refused until a read succeeds or you call `$token.save(_:)`; after `busy`, `timedOut` or
/// `cancelled`, only the next assignment is refused. A key whose material comes from a provider
/// works only with the async calls, such as `$token.loadAsync()`; the property itself fails with
/// `unsupported`. Any thread may use the property.
@propertyWrapper
public struct Stored<Key: StorageKey>: OptionalStoredProperty, Sendable {
  /// The key and the router.
  public let core: StoredCore<Key>

  /// Creates a property without an initial value.
  ///
  /// - Parameters:
  ///   - key: its key.
  ///   - router: reads and writes the key; nil is the shared router.
  public init(_ key: Key, router: StorageRouter? = nil) { core = StoredCore(key, router) }

  /// Creates a property with an initial value, which is stored if the key has none.
  ///
  /// - Parameters:
  ///   - wrappedValue: the initial value; nil for none.
  ///   - key: its key.
  ///   - router: reads and writes the key; nil is the shared router.
  public init(wrappedValue: Key.Value?, _ key: Key, router: StorageRouter? = nil) {
    self.init(key, router: router)
    core.register(wrappedValue)
  }

  /// The stored value, or nil if there is none or it could not be read.
  public var wrappedValue: Key.Value? {
    get { core.get() }
    nonmutating set { core.set(newValue) }
  }

  /// The wrapper itself: `$property.load()` and the like.
  public var projectedValue: Stored { self }

  /// The key.
  public var key: Key { core.key }
}

extension Stored: RedactedDescription {
  /// The key, and no value.
  public var description: String { "Stored(\(key.domain)/\(key.name))" }
}
