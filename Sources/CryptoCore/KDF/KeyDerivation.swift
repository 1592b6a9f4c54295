internal import COpenSSL

/// A hash function for key derivation.
public struct DerivationHash: Hashable, Sendable {
  let name: String

  /// SHA-256, FIPS 180-4.
  public static let sha256 = DerivationHash(name: "SHA256")
  /// SHA-512, FIPS 180-4.
  public static let sha512 = DerivationHash(name: "SHA512")
}

/// Key derivation functions.
///
/// They are deterministic; the caller chooses the salt.
public enum KeyDerivation: Sendable {
  /// HKDF, RFC 5869: derives keys from a key that is already uniformly random.
  ///
  /// Don't use it for passphrases.
  ///
  /// - Parameters:
  ///   - input: the input keying material.
  ///   - salt: may be empty.
  ///   - info: names the purpose of the derived key; different infos give independent keys.
  ///   - count: the length of the result in bytes, from 1 to 255 times the hash's length.
  ///   - hash: the hash function.
  /// - Returns: `count` bytes.
  /// - Throws: `CryptoError`: `invalidParameter` for a count out of range, else `library`.
  public static func hkdf(
    _ input: SecureBytes, salt: [UInt8], info: [UInt8], count: Int, hash: DerivationHash = .sha512
  ) throws(CryptoError) -> SecureBytes {
    let digestSize = hash == .sha256 ? 32 : 64
    guard (1...(255 * digestSize)).contains(count) else {
      throw CryptoError(.invalidParameter, "HKDF derives 1 to \(255 * digestSize) bytes")
    }
    var parameters = KDFParameters()
    parameters.add(OSSL_KDF_PARAM_DIGEST, text: hash.name)
    parameters.add(OSSL_KDF_PARAM_KEY, secret: input)
    parameters.add(OSSL_KDF_PARAM_SALT, bytes: salt)
    parameters.add(OSSL_KDF_PARAM_INFO, bytes: info)
    return try parameters.derive("HKDF", count: count)
  }

  /// PBKDF2 with HMAC, RFC 8018.
  ///
  /// - Parameters:
  ///   - passphrase: the passphrase.
  ///   - salt: at least 16 random bytes for new keys.
  ///   - rounds: the iterations, at least 1; StorageCore's `PassphraseDerivation` has current
  ///     defaults.
  ///   - count: the length of the result in bytes, from 1 to 1,024.
  ///   - hash: the hash function.
  /// - Returns: `count` bytes.
  /// - Throws: `CryptoError`: `invalidParameter` for numbers out of range, else `library`.
  public static func pbkdf2(
    _ passphrase: SecureBytes, salt: [UInt8], rounds: Int, count: Int,
    hash: DerivationHash = .sha512
  ) throws(CryptoError) -> SecureBytes {
    guard rounds >= 1, rounds <= Int(UInt32.max), (1...1024).contains(count) else {
      throw CryptoError(
        .invalidParameter, "PBKDF2 takes 1 to 2^32 - 1 rounds and derives 1 to 1024 bytes")
    }
    var parameters = KDFParameters()
    parameters.add(OSSL_KDF_PARAM_DIGEST, text: hash.name)
    parameters.add(OSSL_KDF_PARAM_PASSWORD, secret: passphrase)
    parameters.add(OSSL_KDF_PARAM_SALT, bytes: salt)
    parameters.add(OSSL_KDF_PARAM_ITER, number: UInt64(rounds))
    // EVP_KDF-PBKDF2(7): 1 turns off the lower bounds of SP 800-132, which test vectors do not
    // meet.
    parameters.add(OSSL_KDF_PARAM_PKCS5, number: 1)
    return try parameters.derive("PBKDF2", count: count)
  }

  /// scrypt, RFC 7914.
  ///
  /// - Parameters:
  ///   - passphrase: the passphrase.
  ///   - salt: at least 16 random bytes for new keys.
  ///   - cost: N, a power of two above 1.
  ///   - blockSize: r.
  ///   - parallelism: p.
  ///   - count: the length of the result in bytes, from 1 to 1,024.
  ///   - maximumMemory: how many bytes it may use; it needs a little more than 128 times N times r.
  /// - Returns: `count` bytes.
  /// - Throws: `CryptoError`: `invalidParameter` for numbers out of range or more memory than
  ///   allowed, else `library`.
  public static func scrypt(
    _ passphrase: SecureBytes, salt: [UInt8], cost: Int, blockSize: Int, parallelism: Int,
    count: Int, maximumMemory: Int = 192 << 20
  ) throws(CryptoError) -> SecureBytes {
    guard cost > 1, cost & (cost - 1) == 0, blockSize >= 1, parallelism >= 1,
      blockSize <= 1 << 20, parallelism <= 1 << 20, cost <= 1 << 40, (1...1024).contains(count)
    else {
      throw CryptoError(.invalidParameter, "scrypt's parameters are out of range")
    }
    // RFC 7914: B takes 128 r p bytes, V takes 128 r N. EVP_KDF-SCRYPT(7) limits their sum.
    let (needed, overflows) = (128 * blockSize).multipliedReportingOverflow(
      by: cost + parallelism + 2)
    guard !overflows, needed <= maximumMemory else {
      throw CryptoError(
        .invalidParameter, "scrypt would use more memory than the \(maximumMemory) bytes allowed")
    }
    var parameters = KDFParameters()
    parameters.add(OSSL_KDF_PARAM_PASSWORD, secret: passphrase)
    parameters.add(OSSL_KDF_PARAM_SALT, bytes: salt)
    parameters.add(OSSL_KDF_PARAM_SCRYPT_N, number: UInt64(cost))
    parameters.add(OSSL_KDF_PARAM_SCRYPT_R, number: UInt64(blockSize))
    parameters.add(OSSL_KDF_PARAM_SCRYPT_P, number: UInt64(parallelism))
    parameters.add(OSSL_KDF_PARAM_SCRYPT_MAXMEM, number: UInt64(maximumMemory))
    return try parameters.derive("SCRYPT", count: count)
  }

  /// Argon2id, RFC 9106, version 1.3; needs OpenSSL 3.2 or newer at run time.
  ///
  /// - Parameters:
  ///   - passphrase: the passphrase.
  ///   - salt: at least 8 bytes; at least 16 random bytes for new keys.
  ///   - memory: KiB, at least 8 times `lanes`.
  ///   - passes: the iterations, at least 1.
  ///   - lanes: the number of parallel lanes; they are computed one after another.
  ///   - count: the length of the result in bytes, from 4 to 1,024.
  ///   - secret: an additional secret to mix in, or nil.
  ///   - associatedData: additional data to mix in.
  /// - Returns: `count` bytes.
  /// - Throws: `CryptoError`: `unsupported` with an older OpenSSL, `invalidParameter` for numbers
  ///   out of range, else `library`.
  public static func argon2id(
    _ passphrase: SecureBytes, salt: [UInt8], memory: Int, passes: Int, lanes: Int, count: Int,
    secret: SecureBytes? = nil, associatedData: [UInt8] = []
  ) throws(CryptoError) -> SecureBytes {
    guard (1...(1 << 24 - 1)).contains(lanes), memory >= 8 * lanes, memory <= Int(UInt32.max),
      passes >= 1, passes <= Int(UInt32.max), (4...1024).contains(count), salt.count >= 8
    else { throw CryptoError(.invalidParameter, "Argon2id's parameters are out of range") }
    guard isArgon2idAvailable else {
      throw CryptoError(.unsupported, "Argon2id needs OpenSSL 3.2 or newer")
    }
    // The names come from core_names.h of OpenSSL 3.2; the headers at build time may be older.
    var parameters = KDFParameters()
    parameters.add("pass", secret: passphrase)
    parameters.add("salt", bytes: salt)
    parameters.add("memcost", shortNumber: UInt32(memory))
    parameters.add("iter", shortNumber: UInt32(passes))
    parameters.add("lanes", shortNumber: UInt32(lanes))
    if let secret { parameters.add("secret", secret: secret) }
    if !associatedData.isEmpty { parameters.add("ad", bytes: associatedData) }
    return try parameters.derive("ARGON2ID", count: count)
  }

  /// Whether the OpenSSL of this machine offers Argon2id.
  package static let isArgon2idAvailable: Bool = {
    OpenSSLLibrary.prepare()
    // EVP_KDF_fetch(3) leaves an entry in the error queue when the algorithm is missing.
    defer { ERR_clear_error() }
    guard let kdf = unsafe EVP_KDF_fetch(nil, "ARGON2ID", nil) else { return false }
    unsafe EVP_KDF_free(kdf)
    return true
  }()
}
