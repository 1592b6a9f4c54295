// The umbrella module: one import for everything that a program uses. Not included: StorageTesting,
// KeyringTesting and InjectTesting, which are for tests, and KeychainStorageShim, which defines a
// name that KeyringBackend also defines. Without the trait Keyring, the part that needs libsecret
// is left out.

@_exported public import CryptoCore
@_exported public import DefaultsBackend
@_exported public import FileBackend
@_exported public import InjectRegistry
@_exported public import ProviderBackend
@_exported public import SingletonBackend
@_exported public import StorageCore
@_exported public import StorageFoundation
@_exported public import VaultBackend

#if Keyring
  @_exported public import KeyringBackend
#endif
