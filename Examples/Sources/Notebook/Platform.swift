// The one file that differs between the app and the server: where a value of each kind is kept.
#if canImport(SecurePropertyStorage)
  import SecurePropertyStorage

  /// A secret of the user: the Keychain in the app, the vault on a server, which has no keyring.
  typealias Secret<Value> = Vault<Value>
  /// A Codable value of the user, kept in the same place.
  typealias CodableSecret<Value: Codable> = CodableVault<Value>
#else
  import Keychain
  import Singleton
  import UserDefault

  typealias Secret<Value> = Keychain<Value>
  typealias CodableSecret<Value: Codable> = CodableKeychain<Value>
#endif
