internal import CryptoCore
internal import StorageCore

/// The key of one value, derived from material, and what tells it from others.
final class DerivedKey: Sendable {
  let sealing: Envelope.Sealing
  let material: SecureBytes
  /// Follows from the material alone, so that a value which was moved is told from one under other material.
  let check: [UInt8]
  private let key: DataKey

  /// Derives the key.
  ///
  /// PBKDF2 and scrypt take as long as they are to take. `binding` says whose value it is: a declared salt
  /// is the same for many keys, and one data key for all of them would wear out sooner.
  init(
    _ sealing: Envelope.Sealing, _ material: SecureBytes, binding: [UInt8]
  ) throws(StorageError) {
    self.sealing = sealing
    self.material = material
    // The check follows from what the slow function gives, so that it helps nobody to guess faster.
    let root = try Self.root(sealing, material)
    var info: [UInt8] = []
    info.appendField(binding)
    info += sealing.info
    (key, check) = try cryptography { () throws(CryptoError) in
      let key = try KeyDerivation.hkdf(
        root, salt: [], info: Label.value + info, count: AEADAlgorithm.keySize,
        hash: .sha256)
      let check = try KeyDerivation.hkdf(
        root, salt: [], info: Label.check + sealing.info, count: Envelope.checkSize,
        hash: .sha256)
      return (
        try DataKey(SymmetricKey(bytes: key), id: 1, algorithm: sealing.algorithm),
        check.withBytes { $0.copied() }
      )
    }
  }

  private enum Label {
    static let value = Array("SPS LocalData value v1".utf8)
    static let check = Array("SPS LocalData check v1".utf8)
  }

  private static func root(
    _ sealing: Envelope.Sealing, _ material: SecureBytes
  ) throws(StorageError) -> SecureBytes {
    switch sealing.function {
    case .hkdfSHA256:
      try cryptography { () throws(CryptoError) in
        try KeyDerivation.hkdf(
          material, salt: sealing.salt, info: sealing.info, count: 32, hash: .sha256)
      }
    case .pbkdf2SHA256:
      try cryptography { () throws(CryptoError) in
        try KeyDerivation.pbkdf2(
          material, salt: sealing.salt, rounds: Int(sealing.rounds), count: 32, hash: .sha256)
      }
    case .scrypt:
      try PassphraseDerivation.standard.derive(
        .passphrase(material), salt: sealing.salt, count: 32)
    }
  }

  /// Seals bytes that are bound to a head and to a key's name.
  func seal(_ bytes: RawSpan, _ context: RecordContext) throws(StorageError) -> [UInt8] {
    try cryptography { () throws(CryptoError) in try key.seal(bytes, for: context) }
  }

  /// Lends what a record holds.
  func open(
    _ record: RawSpan, _ context: RecordContext, _ body: (RawSpan) -> Void
  ) throws(StorageError) {
    try cryptography { () throws(CryptoError) in
      try key.withOpened(record, for: context, body)
    }
  }
}
