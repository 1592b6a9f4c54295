public import CryptoCore
public import StorageCore

/// A property over a typed key; nil when there is no value.
///
///     @Stored(StorageKeys.UserToken()) var token: String?
///
/// Reading and assigning block. Reading when the place fails gives nil and reports the error to
/// `StorageDiagnostics`; `$token.load()` throws it. After a read that failed, assigning is refused until a
/// read succeeds or `$token.save(_:)` is called. A key whose material comes from a provider is read and
/// written by `$token.loadAsync()` and `$token.saveAsync(_:)` alone; the property is the error
/// `unsupported`. Any thread may use it.
@propertyWrapper
public struct Stored<Key: StorageKey>: StoredKeyProperty, Sendable {
  /// Key and router.
  public let core: StoredCore<Key>

  /// A property without an initial value.
  ///
  /// - Parameters:
  ///   - key: its key.
  ///   - router: what reads and writes it; nil is the shared one.
  public init(_ key: Key, router: StorageRouter? = nil) { core = StoredCore(key, router) }

  /// A property with an initial value, stored if the key has none.
  ///
  /// - Parameters:
  ///   - wrappedValue: the initial value; nil is none.
  ///   - key: its key.
  ///   - router: what reads and writes it; nil is the shared one.
  public init(wrappedValue: Key.Value?, _ key: Key, router: StorageRouter? = nil) {
    self.init(key, router: router)
    core.register(wrappedValue)
  }

  /// The stored value, or nil when there is none or it could not be read.
  public var wrappedValue: Key.Value? {
    get { core.get() }
    nonmutating set { core.set(newValue) }
  }

  /// The wrapper itself: `$property.load()` and the like.
  public var projectedValue: Stored { self }

  /// The value, or nil when there is none.
  ///
  /// - Throws: `StorageError` when that can't be known, or the value can't be read.
  public func load() throws(StorageError) -> Key.Value? { try core.load() }

  /// Stores a value, or removes it when it is nil.
  ///
  /// - Throws: `StorageError`; the old value is then still there, except with `outcomeUnknown`.
  public func save(_ value: Key.Value?) throws(StorageError) { try core.save(value) }

  /// As ``load()``, without blocking a thread of Swift concurrency, and of a provider's key as well.
  ///
  /// - Throws: as `get` of the router.
  public func loadAsync() async throws(StorageError) -> Key.Value? {
    try await core.router.get(core.key)
  }

  /// As ``save(_:)``, without blocking a thread of Swift concurrency, and of a provider's key as well.
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
