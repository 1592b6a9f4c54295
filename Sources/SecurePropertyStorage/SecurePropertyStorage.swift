// The umbrella: one import for all that a program uses. StorageTesting is for tests, and not here.

@_exported public import CryptoCore
@_exported public import DefaultsBackend
@_exported public import SingletonBackend
@_exported public import StorageCore
@_exported public import VaultBackend
