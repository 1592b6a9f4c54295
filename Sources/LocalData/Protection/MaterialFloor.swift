internal import CryptoCore
internal import StorageCore

/// The minimum strength of the material that new values are sealed under.
///
/// What people choose must meet ``PassphraseFloor``. A key from a provider must have 128 bits. The
/// master key and the keys of groups are random and have 256 bits or more.
enum MaterialFloor {
  /// The shortest key of a provider, in bytes.
  static let keyLength = 16

  /// Why a declared derivation is too weak for new values; nil if it is strong enough.
  static func fault(of sealing: Envelope.Sealing) -> String? {
    guard sealing.function == .pbkdf2SHA256 else { return nil }
    return PassphraseFloor.fault(of: .pbkdf2SHA256(rounds: sealing.rounds)).map {
      $0 + "; declare 600000 iterations or more, or HKDF if the material is a key"
    }
  }

  /// Why material, or its derivation, is too weak; nil if both are strong enough.
  static func fault(of material: SecureBytes, _ sealing: Envelope.Sealing) -> String? {
    switch (sealing.origin, sealing.function) {
    case (.none, _), (.masterKey, _): return nil
    case (.provider, .hkdfSHA256):
      guard material.count < keyLength else { return nil }
      return
        "the provider \(sealing.source) returned a key of \(material.count) bytes, and the minimum is "
        + "\(keyLength); declare PBKDF2 if it is a passphrase"
    case (.provider, _):
      return PassphraseFloor.fault(of: material, .pbkdf2SHA256(rounds: sealing.rounds))
    case (.passcode, _):
      return PassphraseFloor.fault(of: material, .standard)
    }
  }

  /// Refuses to seal a new value that somebody with a copy could open by guessing.
  static func require(
    _ material: SecureBytes, _ sealing: Envelope.Sealing
  ) throws(StorageError) {
    guard let fault = fault(of: sealing) ?? fault(of: material, sealing) else { return }
    throw StorageError(
      .invalid, "\(fault). The value was not stored: someone with a copy could guess the secret")
  }
}
