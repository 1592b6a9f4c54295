public import ProviderBackend
public import StorageCore

/// A property that a ``/ProviderBackend/KeychainProvider`` keeps as JSON.
///
/// All properties of one key and type follow a write through any of them, also if each made its own
/// object of the provider's type.
///
///     @KeychainStorage(provider: MyKeychain.shared, key: "someKey") private var someValue = false
///
/// For code that was written for the package KeychainStorage. New code uses `@Live(storage, "key")`
/// over `ProviderStorage(plain:)`, which this wraps. An initial value is stored if the key has
/// none. If the provider returns false, or a value can't be encoded, nothing changes and
/// ``/StorageCore/StorageDiagnostics`` gets the error; `$property.save(_:)` throws it.
@propertyWrapper
public struct KeychainStorage<Property: Sendable & Equatable>: Sendable {
  private let live: Live<Property, ProviderStorage>

  /// The value in memory, which follows the provider.
  public var wrappedValue: Property {
    get { live.wrappedValue }
    nonmutating set { live.wrappedValue = newValue }
  }

  /// The live property: `$property.save(_:)` and the like.
  public var projectedValue: Live<Property, ProviderStorage> { live }
}

extension KeychainStorage where Property: Codable {
  /// Creates a property with an initial value, which is stored if the key has no value.
  ///
  /// Assigning nil to an optional property deletes the value.
  ///
  /// - Parameters:
  ///   - wrappedValue: the initial value, and the value of the property while the stored one can't
  ///     be read; nil means no initial value.
  ///   - provider: keeps the value.
  ///   - key: the property's key.
  public init(wrappedValue: Property, provider: some KeychainProvider, key: String) {
    live = Live(initialValue: wrappedValue, ProviderStorage(plain: provider), key)
  }

  /// The same with the first label that the package KeychainStorage had.
  public init(wrappedValue: Property, keychainProvider: some KeychainProvider, key: String) {
    self.init(wrappedValue: wrappedValue, provider: keychainProvider, key: key)
  }
}

extension KeychainStorage where Property: Codable & ExpressibleByNilLiteral {
  /// Creates an optional property without an initial value; it is nil when there is no value.
  ///
  /// - Parameters:
  ///   - provider: keeps the value.
  ///   - key: the property's key.
  public init(provider: some KeychainProvider, key: String) {
    live = Live(ProviderStorage(plain: provider), key)
  }

  /// The same with the first label that the package KeychainStorage had.
  public init(keychainProvider: some KeychainProvider, key: String) {
    self.init(provider: keychainProvider, key: key)
  }
}
