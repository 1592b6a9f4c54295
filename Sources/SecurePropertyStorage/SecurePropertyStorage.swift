// The umbrella: one import for all that a program uses. StorageTesting, KeyringTesting and
// InjectTesting are for tests, and KeychainStorageShim has a name that KeyringBackend has: they are not
// here. The trait Keyring leaves out what needs libsecret.

@_exported public import CryptoCore
@_exported public import DefaultsBackend
@_exported public import FileBackend
@_exported public import InjectRegistry
@_exported public import ProviderBackend
@_exported public import SingletonBackend
@_exported public import StorageCore
@_exported public import VaultBackend

#if Keyring
  @_exported public import KeyringBackend
#endif
