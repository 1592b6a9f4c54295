internal import CryptoCore
internal import StorageCore

internal import struct FoundationEssentials.Data

/// Identifies bytes that were seen before: the first 32 bytes of an HMAC-SHA-512.
///
/// Stored only in the ledger, which is sealed: otherwise the digest of a short value would confirm
/// guesses.
enum ValueDigest {
  private static let key = SymmetricKey(data: Array("SPS LocalData value digest v1".utf8))

  /// The digest of bytes; nil for none.
  static func ofAny(_ bytes: Data?) throws(StorageError) -> [UInt8]? {
    if let bytes { try of(bytes) } else { nil }
  }

  /// The digest of bytes.
  static func of(_ bytes: Data) throws(StorageError) -> [UInt8] {
    try cryptography { () throws(CryptoError) in
      Array(try KeyedHash(key).hash(bytes.bytes).bytes.prefix(32))
    }
  }
}
