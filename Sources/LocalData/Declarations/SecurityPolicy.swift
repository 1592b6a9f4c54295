public import struct Foundation.Data

/// How the value of a key is protected.
public enum SecurityPolicy: Hashable, Sendable {
  /// Not at all: who can read the file can read the value.
  ///
  /// For files and settings. What the keychain and sealed folders keep is always sealed, so they
  /// refuse it with `unsupported`.
  case none
  /// By the keychain, which seals it; for the domain `keychain` alone.
  ///
  /// What the machine's keychain can't promise is the error `unsupported`, when the key is registered.
  case keychain(accessibility: KeychainAccessibility, accessControl: KeychainAccessControl? = nil)
  /// Sealed under a key that is derived for this value alone, in whatever domain.
  case encrypted(EncryptionPolicy)

  /// ChaCha20-Poly1305 under a key by HKDF.
  public static let recommended: SecurityPolicy = .encrypted(.recommended)

  /// What seals, and where its key comes from.
  public enum EncryptionPolicy: Hashable, Sendable {
    /// AES-256-GCM, under a key derived from the master key.
    case aes256(keyDerivation: KeyDerivation)
    /// ChaCha20-Poly1305, under a key derived from the master key.
    case chacha20Poly1305(keyDerivation: KeyDerivation)
    /// ChaCha20-Poly1305, under a key derived from what a provider gives.
    ///
    /// See ``StorageRouter/registerKeyMaterialProvider(_:for:)``.
    case external(source: KeyMaterialSource, keyDerivation: KeyDerivation = .hkdf())

    /// ChaCha20-Poly1305 under a key by HKDF.
    public static let recommended: EncryptionPolicy = .chacha20Poly1305(keyDerivation: .hkdf())
  }

  /// How the key of a value is derived.
  ///
  /// What is used is stored beside the value: a declaration that changes takes effect with the next
  /// write, and older values stay readable.
  public enum KeyDerivation: Hashable, Sendable {
    /// PBKDF2 with HMAC-SHA-256, for material that is no uniform key, as a passphrase.
    ///
    /// `iterations` is 1 to 10,000,000; nil is ``EncryptionConfiguration/pbkdf2Iterations``. `salt` has
    /// at most 255 bytes; nil is 32 random ones.
    case pbkdf2(iterations: Int? = nil, salt: Data? = nil)
    /// HKDF with SHA-256, for material that is a key.
    ///
    /// `salt` and `info` have at most 255 bytes each; a `salt` of nil is 32 random ones.
    case hkdf(salt: Data? = nil, info: Data? = nil)
  }
}

extension SecurityPolicy: CustomStringConvertible {
  /// The policy in a few words, without salts.
  public var description: String {
    switch self {
    case .none: "none"
    case .keychain(let accessibility, let control):
      "keychain(\(accessibility.rawValue)\(control.map { ", \($0.rawValue)" } ?? ""))"
    case .encrypted(let policy): "encrypted(\(policy))"
    }
  }
}

extension SecurityPolicy.EncryptionPolicy: CustomStringConvertible {
  /// The cipher, the derivation and the source.
  public var description: String {
    switch self {
    case .aes256(let derivation): "AES-256-GCM, \(derivation)"
    case .chacha20Poly1305(let derivation): "ChaCha20-Poly1305, \(derivation)"
    case .external(let source, let derivation):
      "ChaCha20-Poly1305, \(derivation), key from \(source.id)"
    }
  }
}

extension SecurityPolicy.KeyDerivation: CustomStringConvertible {
  /// The function, and its iterations where the key says so.
  public var description: String {
    switch self {
    case .pbkdf2(let iterations, _):
      "PBKDF2-SHA-256\(iterations.map { ", \($0) iterations" } ?? "")"
    case .hkdf: "HKDF-SHA-256"
    }
  }
}
