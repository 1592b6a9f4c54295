public import ProviderBackend
public import StorageCore

/// A property kept as JSON at a ``/ProviderBackend/KeychainProvider``, in step with all others of
/// its key and type.
///
///     @KeychainStorage(provider: MyKeychain.shared, key: "someKey") private var someValue = false
///
/// The spelling of the package KeychainStorage, for code that was written for it; new code uses
/// `@Live(storage, "key")`, which this is, over `ProviderStorage(plain:)`. An initial value is stored if
/// the key has none. What the provider returns false for, and a value that can't be encoded, change
/// nothing and go to ``/StorageCore/StorageDiagnostics``; `$property.save(_:)` throws that.
@propertyWrapper
public struct KeychainStorage<Property: Sendable & Equatable>: Sendable {
  private let live: Live<Property, ProviderStorage>

  /// The value in memory, which is that of the provider.
  public var wrappedValue: Property {
    get { live.wrappedValue }
    nonmutating set { live.wrappedValue = newValue }
  }

  /// The live property: `$property.save(_:)` and the like.
  public var projectedValue: Live<Property, ProviderStorage> { live }
}

extension KeychainStorage where Property: Codable {
  /// A property with an initial value, stored if the key has none.
  ///
  /// - Parameters:
  ///   - wrappedValue: the initial value, and what the property is while it can't be read.
  ///   - provider: where it is kept.
  ///   - key: its key.
  public init(wrappedValue: Property, provider: some KeychainProvider, key: String) {
    live = Live(wrappedValue: wrappedValue, ProviderStorage(plain: provider), key)
    live.storeDefaultIfAbsent()
  }

  /// The same under the label that the package had first.
  public init(wrappedValue: Property, keychainProvider: some KeychainProvider, key: String) {
    self.init(wrappedValue: wrappedValue, provider: keychainProvider, key: key)
  }
}

extension KeychainStorage where Property: Codable & ExpressibleByNilLiteral {
  /// An optional property, which is nil when there is no value.
  ///
  /// An initial value is stored if the key has none.
  ///
  /// - Parameters:
  ///   - wrappedValue: the initial value; nil is none.
  ///   - provider: where it is kept.
  ///   - key: its key.
  public init(wrappedValue: Property = nil, provider: some KeychainProvider, key: String) {
    live = Live(wrappedValue: wrappedValue, ProviderStorage(plain: provider), key)
  }

  /// The same under the label that the package had first.
  public init(wrappedValue: Property = nil, keychainProvider: some KeychainProvider, key: String) {
    self.init(wrappedValue: wrappedValue, provider: keychainProvider, key: key)
  }
}
