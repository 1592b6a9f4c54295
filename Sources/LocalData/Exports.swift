// The API of this module uses types of these modules, so importing it also imports them.

@_exported public import CryptoCore
@_exported public import StorageCore
