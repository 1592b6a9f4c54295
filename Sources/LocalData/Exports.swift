// Who imports this module uses the types of these in what it offers.

@_exported public import CryptoCore
@_exported public import StorageCore
