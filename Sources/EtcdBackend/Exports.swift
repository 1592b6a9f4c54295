// The API of this module uses the types of these modules, so importing it imports them too.

@_exported public import CryptoCore
@_exported public import RemoteBackend
@_exported public import StorageCore
