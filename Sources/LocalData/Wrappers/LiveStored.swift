public import CryptoCore
public import StorageCore

/// A property over a typed key that is read from memory and can be observed; see `Live`.
///
///     @LiveStored(StorageKeys.Theme()) var theme = "dark"
///     @LiveStored(StorageKeys.UserToken()) var token: String?
///
/// All live properties of one key and router share one value. They see every change, by any call in
/// this process and by other processes. The value stays in memory in the clear as long as such a
/// property exists: use ``Stored`` if it should not. A key whose material comes from a provider
/// throws `unsupported`.
@propertyWrapper
public struct LiveStored<Property: Sendable & Equatable>: Sendable {
  private let live: Live<Property, StorageRouter>

  /// Creates a property with a default, which is never written.
  ///
  /// - Parameters:
  ///   - wrappedValue: the default.
  ///   - key: its key.
  ///   - router: reads and writes the key.
  ///   - validate: whether a value is accepted, as of `Live`; nil accepts all.
  public init<Key: StorageKey<Property>>(
    wrappedValue: Property, _ key: Key, router: StorageRouter = .shared,
    validate: (@Sendable (Property) -> Bool)? = nil
  ) where Property: Codable {
    let source = LiveKeySource(StoredCore(key, router))
    live = Live(
      wrappedValue: wrappedValue, router, defaulted: source.optional(), validate: validate)
  }

  /// Creates a property that is nil if there is no value.
  ///
  /// - Parameters:
  ///   - key: its key.
  ///   - router: reads and writes the key.
  ///   - validate: whether a value is accepted, as of `Live`; nil accepts all.
  public init<Key: StorageKey>(
    _ key: Key, router: StorageRouter = .shared,
    validate: (@Sendable (Key.Value) -> Bool)? = nil
  ) where Property == Key.Value? {
    let check = validate.map { check in
      { @Sendable (value: Property) in value.map(check) ?? true }
    }
    live = Live(
      router, optional: LiveKeySource(StoredCore(key, router)).optional(), validate: check)
  }

  /// The value in memory, which equals the value at the place.
  public var wrappedValue: Property {
    get { live.wrappedValue }
    nonmutating set { live.wrappedValue = newValue }
  }

  /// The live property: `$property.load()`, `$property.states` and the like.
  public var projectedValue: Live<Property, StorageRouter> { live }
}

extension LiveStored: RedactedDescription {
  /// The key, and neither value nor default.
  public var description: String { "LiveStored(\(live.key))" }
}
