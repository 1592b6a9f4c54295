// This module's API uses types of these modules.

@_exported public import CryptoCore
@_exported public import StorageCore
