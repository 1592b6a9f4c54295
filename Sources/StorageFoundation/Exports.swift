// The API of this module extends types of these modules, so importing it imports them too.

@_exported public import CryptoCore
@_exported public import DefaultsBackend
@_exported public import StorageCore
