package import CryptoCore

/// The least that a new slot for a passphrase is made with.
///
/// Of the derivation, what OWASP's Password Storage Cheat Sheet gives as the minimum. Of the passphrase,
/// eight bytes: NIST SP 800-63B takes no shorter one where people choose it, and at 0.3 s a guess a thousand
/// cores go through all of seven small letters in a month.
package enum PassphraseFloor {
  /// The shortest passphrase, in bytes.
  package static let length = 8

  /// N in units of r = 8, and the least p for it.
  private static let scrypt: [(cost: UInt64, parallelism: UInt32)] = [
    (1 << 17, 1), (1 << 16, 2), (1 << 15, 3), (1 << 14, 5), (1 << 13, 10),
  ]
  /// KiB, and the least number of passes for it.
  private static let argon2id: [(memory: UInt32, passes: UInt32)] = [
    (47_104, 1), (19_456, 2), (12_288, 3), (9_216, 4), (7_168, 5),
  ]

  /// What is wrong with a derivation for a new slot; nil when it is good enough.
  package static func fault(of derivation: PassphraseDerivation) -> String? {
    let (a, b, c) = (derivation.parameters[0], derivation.parameters[1], derivation.parameters[2])
    switch derivation.function {
    case .key: return nil
    case .scrypt:
      let cost = UInt64(a) * UInt64(b) / 8
      let isEnough = b >= 8 && scrypt.contains { cost >= $0.cost && c >= $0.parallelism }
      return isEnough
        ? nil
        : "scrypt with N = \(a), r = \(b), p = \(c) takes less than the least, N = 131072, r = 8, p = 1 "
          + "or its like"
    case .pbkdf2SHA256:
      return a >= 600_000
        ? nil : "PBKDF2 with SHA-256 and \(a) rounds takes less than the least, 600000"
    case .pbkdf2SHA512:
      return a >= 210_000
        ? nil : "PBKDF2 with SHA-512 and \(a) rounds takes less than the least, 210000"
    case .argon2id:
      return argon2id.contains { a >= $0.memory && b >= $0.passes }
        ? nil
        : "Argon2id with \(a) KiB and passes = \(b) takes less than the least, 19456 KiB and 2 passes or "
          + "its like"
    }
  }

  /// What is wrong with a passphrase and its derivation; nil when they are good enough.
  static func fault(of passphrase: SecureBytes, _ derivation: PassphraseDerivation) -> String? {
    passphrase.count < length
      ? "the passphrase has fewer than \(length) bytes" : fault(of: derivation)
  }

  /// Refuses what is not good enough for something that is sealed from now on.
  package static func require(
    _ passphrase: SecureBytes, _ derivation: PassphraseDerivation
  ) throws(StorageError) {
    guard derivation.isWithinLimits else { return }  // which is said when it is derived
    guard !derivation.waivesFloor, let fault = fault(of: passphrase, derivation) else { return }
    throw StorageError(
      .invalid,
      "\(fault); whoever has a copy could guess it. "
        + (passphrase.count < length
          ? "Take a longer one, of several words" : "Take PassphraseDerivation.standard, or more"))
  }

  /// The slots that were complained of in this process.
  private static let said = Lock<Set<Said>>([])

  private struct Said: Hashable {
    let store: StoreID
    let slot: UInt32
  }

  /// Says once that a store was opened by what no slot is made with any more.
  static func report(_ opening: Opening, of store: StoreID, at location: String?) {
    guard case .passphrase(let passphrase) = opening.material,
      !opening.opener.derivation.waivesFloor,
      let fault = fault(of: passphrase, opening.slot.derivation),
      said.withLock({ $0.insert(Said(store: store, slot: opening.slot.id)).inserted })
    else { return }
    StorageDiagnostics.report(
      StorageError(
        .invalid,
        "the store opens with slot \(opening.slot.id), \(opening.slot.title), and \(fault): whoever has a "
          + "copy could guess it. Change the passphrase", path: location))
  }
}
