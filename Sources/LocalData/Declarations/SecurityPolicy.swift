public import struct FoundationEssentials.Data

/// How the value of a key is protected.
public enum SecurityPolicy: Hashable, Sendable {
  /// Not protected: anyone who can read the file can read the value.
  ///
  /// For files and settings. The keychain and sealed folders always seal their values, so they
  /// refuse this policy with `unsupported`.
  case none
  /// Sealed by the keychain; only for the domain `keychain`.
  ///
  /// Registering the key throws `unsupported` if the machine's keychain can't keep the promise.
  case keychain(accessibility: KeychainAccessibility, accessControl: KeychainAccessControl? = nil)
  /// Sealed under a key that is derived for this value alone; for any domain.
  case encrypted(EncryptionPolicy)

  /// ChaCha20-Poly1305 under a key derived by HKDF.
  public static let recommended: SecurityPolicy = .encrypted(.recommended)

  /// The cipher, and where its key comes from.
  public enum EncryptionPolicy: Hashable, Sendable {
    /// AES-256-GCM, under a key derived from the master key.
    case aes256(keyDerivation: KeyDerivation)
    /// ChaCha20-Poly1305, under a key derived from the master key.
    case chacha20Poly1305(keyDerivation: KeyDerivation)
    /// ChaCha20-Poly1305, under a key derived from a provider's material.
    ///
    /// See ``StorageRouter/registerKeyMaterialProvider(_:for:)``.
    case external(source: KeyMaterialSource, keyDerivation: KeyDerivation = .hkdf())

    /// ChaCha20-Poly1305 under a key derived by HKDF.
    public static let recommended: EncryptionPolicy = .chacha20Poly1305(keyDerivation: .hkdf())
  }

  /// How the key of a value is derived.
  ///
  /// The derivation is stored beside the value: a changed declaration takes effect with the next
  /// write, and older values stay readable.
  public enum KeyDerivation: Hashable, Sendable {
    /// PBKDF2 with HMAC-SHA-256, for material that is not a uniform key, such as a passphrase.
    ///
    /// `iterations` is 600,000 to 10,000,000; nil means
    /// ``EncryptionConfiguration/pbkdf2Iterations``. With fewer, registering the key and storing a
    /// value throw `invalid`. A stored value may ask for at most twice the declared iterations.
    /// `salt` has at most 255 bytes; nil means 32 random bytes.
    case pbkdf2(iterations: Int? = nil, salt: Data? = nil)
    /// HKDF with SHA-256, for material that is a key.
    ///
    /// `salt` and `info` have at most 255 bytes each; a `salt` of nil means 32 random bytes.
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
