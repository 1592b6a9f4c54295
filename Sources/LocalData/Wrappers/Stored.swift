public import CryptoCore
public import StorageCore

/// A property over a typed key; nil if there is no value.
///
///     @Stored(StorageKeys.UserToken()) var token: String?
///
/// Reading and assigning block. If the place fails, reading gives nil and reports the error to
/// `StorageDiagnostics`; `$token.load()` throws the error. After a failed read, assigning is refused until
/// a read succeeds or `$token.save(_:)` is called. A key whose material comes from a provider works only
/// with `$token.loadAsync()` and `$token.saveAsync(_:)`; the property itself fails with `unsupported`. Any
/// thread may use the property.
@propertyWrapper
public struct Stored<Key: StorageKey>: StoredKeyProperty, Sendable {
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

  /// The value, or nil if there is none.
  ///
  /// - Throws: `StorageError` if the value can't be read, or it can't be determined whether there is one.
  public func load() throws(StorageError) -> Key.Value? { try core.load() }

  /// Stores a value, or removes it when it is nil.
  ///
  /// - Throws: `StorageError`; the old value then still exists, except with `outcomeUnknown`.
  public func save(_ value: Key.Value?) throws(StorageError) { try core.save(value) }

  /// Like ``load()``, but blocks no thread of Swift concurrency; also works for a provider's key.
  ///
  /// - Throws: as `get` of the router.
  public func loadAsync() async throws(StorageError) -> Key.Value? {
    try await core.router.get(core.key)
  }

  /// Like ``save(_:)``, but blocks no thread of Swift concurrency; also works for a provider's key.
  ///
  /// - Throws: as `set` of the router.
  public func saveAsync(_ value: Key.Value?) async throws(StorageError) {
    guard let value else { return try await core.router.remove(core.key) }
    try await core.router.set(value, for: core.key)
  }
}

extension Stored: RedactedDescription {
  /// The key, and no value.
  public var description: String { "Stored(\(key.domain)/\(key.name))" }
}
