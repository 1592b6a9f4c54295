internal import CryptoCore
internal import StorageCore

internal import struct Foundation.Data

/// Tells bytes that were seen from others: the first 32 bytes of an HMAC-SHA-512.
///
/// Kept in the ledger alone, which is sealed: of a short value, a digest would tell who guesses.
enum ValueDigest {
  private static let key = SymmetricKey(data: Array("SPS LocalData value digest v1".utf8))

  /// The digest of bytes.
  static func of(_ bytes: Data) throws(StorageError) -> [UInt8] {
    try cryptography { () throws(CryptoError) in
      Array(try KeyedHash(key).hash(bytes.bytes).bytes.prefix(32))
    }
  }
}
