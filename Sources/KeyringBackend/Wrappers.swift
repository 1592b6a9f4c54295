public import StorageCore

/// A property in the desktop's keyring, sealed; `nil` when there is no value.
///
/// See `Store`. A read is a call over the session's bus, about half a millisecond.
///
///     @Keychain("password") var password: String?
public typealias Keychain<Value> = Store<Value, KeychainStorage>

/// A `Codable` property in the desktop's keyring, sealed; `nil` when there is no value.
///
/// See `CodableStore`.
///
///     @CodableKeychain("user") var user: User?
public typealias CodableKeychain<Value: Codable> = CodableStore<Value, KeychainStorage>

/// A property in the desktop's keyring, sealed; its default when there is no value.
///
/// See `UnwrappedStore`.
///
///     @UnwrappedKeychain("attempts") var attempts = 0
public typealias UnwrappedKeychain<Value> = UnwrappedStore<Value, KeychainStorage>

/// A `Codable` property in the desktop's keyring, sealed; its default when there is no value.
///
/// See `UnwrappedCodableStore`.
public typealias UnwrappedCodableKeychain<Value: Codable> = UnwrappedCodableStore<
  Value, KeychainStorage
>

/// A property in the desktop's keyring, read from memory and observed; see `Live`.
///
///     @LiveKeychain("theme") var theme = "dark"
///     @LiveKeychain("token") var token: String?
public typealias LiveKeychain<Property: Sendable & Equatable> = Live<Property, KeychainStorage>
