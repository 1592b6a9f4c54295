package import CryptoCore

/// How a passphrase is stretched into a key.
///
/// The choice is stored in the passphrase's slot. A new slot must meet the minimum of OWASP's
/// Password Storage Cheat Sheet; a weaker choice is the error `invalid`. The minimum is scrypt with
/// N = 2^17, r = 8, p = 1 or an equivalent, Argon2id with 19 MiB and 2 passes or an equivalent,
/// 600,000 rounds of PBKDF2 with SHA-256, or 210,000 with SHA-512. An existing weaker slot still
/// opens the store.
public struct PassphraseDerivation: Hashable, Sendable {
  enum Function: UInt8, Sendable {
    /// Not a passphrase: HKDF-SHA-512 of a key.
    case key = 0
    case scrypt = 1
    case pbkdf2SHA256 = 2
    case pbkdf2SHA512 = 3
    case argon2id = 4
  }

  let function: Function
  /// Whether a new slot may be weaker than the minimum of ``PassphraseFloor``.
  ///
  /// For tests, which need fast derivations; the public API has no way to set it.
  package private(set) var waivesFloor = false
  /// The parameters of the function, whose meaning depends on the function; unused ones are 0.
  package let parameters: [UInt32]

  init(_ function: Function, _ parameters: [UInt32]) {
    self.function = function
    self.parameters = parameters
  }

  /// The same without the minimum for new slots; for tests.
  package var withoutFloor: PassphraseDerivation {
    var derivation = self
    derivation.waivesFloor = true
    return derivation
  }

  static let keyed = PassphraseDerivation(.key, [0, 0, 0])

  /// The default: scrypt with N = 2^17, r = 8, p = 1.
  ///
  /// Takes 128 MiB and about 0.3 s.
  public static let standard = scrypt()

  /// scrypt, RFC 7914.
  ///
  /// - Parameters:
  ///   - cost: N, a power of two up to 2^20; takes `1024 * cost` bytes of memory with `blockSize` 8. The
  ///     minimum for r = 8 is 2^17 with p = 1, 2^16 with p = 2, 2^15 with p = 3, 2^14 with p = 5, or 2^13
  ///     with p = 10.
  ///   - blockSize: r, 8 to 32.
  ///   - parallelism: p, 1 to 16. The product of N, r and p is at most 2^23: 1 GiB, and about 3 s.
  /// - Returns: the derivation.
  public static func scrypt(
    cost: UInt32 = 1 << 17, blockSize: UInt32 = 8, parallelism: UInt32 = 1
  ) -> PassphraseDerivation {
    PassphraseDerivation(.scrypt, [cost, blockSize, parallelism])
  }

  /// PBKDF2 with HMAC-SHA-256, RFC 8018.
  ///
  /// - Parameter rounds: 600,000 to 10,000,000.
  /// - Returns: the derivation.
  public static func pbkdf2SHA256(rounds: UInt32 = 600_000) -> PassphraseDerivation {
    PassphraseDerivation(.pbkdf2SHA256, [rounds, 0, 0])
  }

  /// PBKDF2 with HMAC-SHA-512, RFC 8018.
  ///
  /// - Parameter rounds: 210,000 to 10,000,000.
  /// - Returns: the derivation.
  public static func pbkdf2SHA512(rounds: UInt32 = 220_000) -> PassphraseDerivation {
    PassphraseDerivation(.pbkdf2SHA512, [rounds, 0, 0])
  }

  /// Argon2id, RFC 9106.
  ///
  /// Needs OpenSSL 3.2 on every machine that opens the store.
  ///
  /// - Parameters:
  ///   - memory: KiB, up to 2^20, and at least 8 times `lanes`. The minimum is 47,104 with 1 pass,
  ///     19,456 with 2, 12,288 with 3, 9,216 with 4, or 7,168 with more.
  ///   - passes: 1 to 16.
  ///   - lanes: 1 to 16.
  /// - Returns: the derivation.
  public static func argon2id(
    memory: UInt32 = 65_536, passes: UInt32 = 3, lanes: UInt32 = 4
  ) -> PassphraseDerivation {
    PassphraseDerivation(.argon2id, [memory, passes, lanes])
  }

  /// Whether the parameters are within the limits above, apart from the minimum for new slots.
  ///
  /// Also checked for parameters from a file, so that a hostile file can't ask for a terabyte or a
  /// year.
  package var isWithinLimits: Bool {
    let (a, b, c) = (UInt64(parameters[0]), UInt64(parameters[1]), UInt64(parameters[2]))
    return switch function {
    case .key: a == 0 && b == 0 && c == 0
    case .scrypt:
      // RFC 7914, section 2: N is less than 2^(128 * r / 8).
      a > 1 && a & (a - 1) == 0 && a <= 1 << 20 && (1...32).contains(b) && (1...16).contains(c)
        && a * b * c <= 1 << 23 && (b > 1 || a < 1 << 16)
    case .pbkdf2SHA256, .pbkdf2SHA512: (1...10_000_000).contains(a) && b == 0 && c == 0
    case .argon2id:
      (8...1 << 20).contains(a) && (1...16).contains(b) && (1...16).contains(c) && a >= 8 * c
    }
  }

  /// Derives `count` bytes from `material`.
  package func derive(
    _ material: KeyMaterial, salt: [UInt8], count: Int
  ) throws(StorageError) -> SecureBytes {
    guard isWithinLimits else {
      throw StorageError(
        .invalid,
        "the parameters of the key derivation are out of range; see PassphraseDerivation")
    }
    return try cryptography { () throws(CryptoError) in
      switch (material, function) {
      case (.key(let key), .key):
        try KeyDerivation.hkdf(key.bytes, salt: salt, info: Label.slotKey, count: count)
      case (.passphrase(let secret), .scrypt):
        try KeyDerivation.scrypt(
          secret, salt: salt, cost: Int(parameters[0]), blockSize: Int(parameters[1]),
          parallelism: Int(parameters[2]), count: count, maximumMemory: 1 << 30 + 1 << 24)
      case (.passphrase(let secret), .pbkdf2SHA256):
        // One block only: with two blocks, a guess would need only the second one, and so cost only
        // half as much as opening the store.
        try KeyDerivation.hkdf(
          KeyDerivation.pbkdf2(
            secret, salt: salt, rounds: Int(parameters[0]), count: 32, hash: .sha256),
          salt: salt, info: Label.slotKey, count: count)
      case (.passphrase(let secret), .pbkdf2SHA512):
        try KeyDerivation.pbkdf2(
          secret, salt: salt, rounds: Int(parameters[0]), count: count, hash: .sha512)
      case (.passphrase(let secret), .argon2id):
        try KeyDerivation.argon2id(
          secret, salt: salt, memory: Int(parameters[0]), passes: Int(parameters[1]),
          lanes: Int(parameters[2]), count: count)
      case (.key, _), (.passphrase, .key):
        // A key for a passphrase slot, or the other way round: it can't open the slot.
        throw CryptoError(
          .authenticationFailed, "the source gave a key for a passphrase, or the other way round")
      }
    }
  }
}

/// The labels that keep derived keys apart; docs/file-format.md lists them.
enum Label {
  static let slotKey = Array("SPS slot key v1".utf8)
  static let keysetKey = Array("SPS keyset key v1".utf8)
  static let manifestRecords = Array("SPS manifest records v1".utf8)
  static let manifestRemovals = Array("SPS manifest removals v1".utf8)
  static let manifest = Array("SPS manifest v1".utf8)
  static let rootCheck = Array("SPS root check v1".utf8)
  static let rootMarks = Array("SPS root marks v1".utf8)
  static let directName = Array("SPS direct name key v1".utf8)
  static let directData = Array("SPS direct data key v1".utf8)
  static let directStore = Array("SPS direct store id v1".utf8)
  static let namedKey = Array("SPS named key v1".utf8)
  static let recoveryCheck = Array("SPS recovery check v1".utf8)
}
