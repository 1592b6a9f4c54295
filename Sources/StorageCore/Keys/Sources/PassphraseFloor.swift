package import CryptoCore

/// The minimum strength of a new passphrase slot.
///
/// The derivation must meet the minimum of OWASP's Password Storage Cheat Sheet. The passphrase
/// must have eight bytes: NIST SP 800-63B accepts no shorter one that a person chose. At 0.3 s for
/// a guess, a thousand cores try all passphrases of seven small letters in a month.
package enum PassphraseFloor {
  /// The shortest passphrase, in bytes.
  package static let length = 8
  /// The least rounds of PBKDF2 with SHA-256.
  package static let pbkdf2SHA256Rounds: UInt32 = 600_000

  /// N in units of r = 8, and the least p for it.
  private static let scrypt: [(cost: UInt64, parallelism: UInt32)] = [
    (1 << 17, 1), (1 << 16, 2), (1 << 15, 3), (1 << 14, 5), (1 << 13, 10),
  ]
  /// KiB, and the least number of passes for it.
  private static let argon2id: [(memory: UInt32, passes: UInt32)] = [
    (47_104, 1), (19_456, 2), (12_288, 3), (9_216, 4), (7_168, 5),
  ]

  /// Why a derivation is too weak for a new slot; nil when it is strong enough.
  package static func fault(of derivation: PassphraseDerivation) -> String? {
    let (a, b, c) = (derivation.parameters[0], derivation.parameters[1], derivation.parameters[2])
    switch derivation.function {
    case .key: return nil
    case .scrypt:
      let cost = UInt64(a) * UInt64(b) / 8
      let isEnough = b >= 8 && scrypt.contains { cost >= $0.cost && c >= $0.parallelism }
      return isEnough
        ? nil
        : "scrypt with N = \(a), r = \(b), p = \(c) is weaker than the minimum, N = 131072, r = 8, p = 1 "
          + "or an equivalent"
    case .pbkdf2SHA256:
      return a >= pbkdf2SHA256Rounds
        ? nil : "PBKDF2 with SHA-256 and \(a) rounds is weaker than the minimum, 600000 rounds"
    case .pbkdf2SHA512:
      return a >= 210_000
        ? nil : "PBKDF2 with SHA-512 and \(a) rounds is weaker than the minimum, 210000 rounds"
    case .argon2id:
      return argon2id.contains { a >= $0.memory && b >= $0.passes }
        ? nil
        : "Argon2id with \(a) KiB and passes = \(b) is weaker than the minimum, 19456 KiB and 2 passes "
          + "or an equivalent"
    }
  }

  /// Why a passphrase or its derivation is too weak; nil when both are strong enough.
  package static func fault(
    of passphrase: SecureBytes, _ derivation: PassphraseDerivation
  ) -> String? {
    passphrase.count < length
      ? "the passphrase has fewer than \(length) bytes" : fault(of: derivation)
  }

  /// Throws `invalid` for a passphrase or a derivation that is too weak for new data.
  package static func require(
    _ passphrase: SecureBytes, _ derivation: PassphraseDerivation
  ) throws(StorageError) {
    guard derivation.isWithinLimits else { return }  // `derive` throws for these
    guard !derivation.waivesFloor, let fault = fault(of: passphrase, derivation) else { return }
    throw StorageError(
      .invalid,
      "\(fault); someone with a copy of the data could guess the passphrase. "
        + (passphrase.count < length
          ? "Use a longer one, of several words" : "Use PassphraseDerivation.standard or more"))
  }

  /// The weak slots that were reported in this process.
  private static let said = Lock<Set<Said>>([])

  private struct Said: Hashable {
    let store: StoreID
    let slot: UInt32
  }

  /// The other weak data that was reported in this process.
  private static let saidOfData = Lock<Set<StorageError>>([])

  /// Reports, once in this process, that data was opened which is weaker than new data may be.
  package static func report(_ error: StorageError) {
    guard saidOfData.withLock({ $0.insert(error).inserted }) else { return }
    StorageDiagnostics.report(error)
  }

  /// Reports, once for each slot, that a store was opened with a slot that is weaker than a new
  /// one.
  static func report(_ opening: Opening, of store: StoreID, at location: String?) {
    guard case .passphrase(let passphrase) = opening.material,
      !opening.opener.derivation.waivesFloor,
      let fault = fault(of: passphrase, opening.slot.derivation),
      said.withLock({ $0.insert(Said(store: store, slot: opening.slot.id)).inserted })
    else { return }
    StorageDiagnostics.report(
      StorageError(
        .invalid,
        "slot \(opening.slot.id), \(opening.slot.title), opened the store, but is weak: \(fault). Someone "
          + "with a copy of the store could guess the passphrase. Change the passphrase",
        path: location))
  }
}
