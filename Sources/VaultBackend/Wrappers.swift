public import StorageCore

/// A property in the encrypted file vault; `nil` when there is no value.
///
/// See `Store`.
///
///     @Vault("username") var username: String?
public typealias Vault<Value> = Store<Value, VaultStorage>

/// A `Codable` property in the encrypted file vault; `nil` when there is no value.
///
/// See `CodableStore`.
///
///     @CodableVault("user") var user: User?
public typealias CodableVault<Value: Codable> = CodableStore<Value, VaultStorage>

/// A property in the encrypted file vault; its default when there is no value.
///
/// See `UnwrappedStore`.
///
///     @UnwrappedVault("launches") var launches = 0
public typealias UnwrappedVault<Value> = UnwrappedStore<Value, VaultStorage>

/// A `Codable` property in the encrypted file vault; its default when there is no value.
///
/// See `UnwrappedCodableStore`.
public typealias UnwrappedCodableVault<Value: Codable> = UnwrappedCodableStore<
  Value, VaultStorage
>

/// A property in the encrypted file vault, read from memory and observed; see `Live`.
///
///     @LiveVault("theme") var theme = "dark"
///     @LiveVault("token") var token: String?
public typealias LiveVault<Property: Sendable & Equatable> = Live<Property, VaultStorage>
