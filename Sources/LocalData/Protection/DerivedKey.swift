internal import CryptoCore
internal import StorageCore

/// The key of one value, derived from material, with a check value that identifies it.
final class DerivedKey: Sendable {
  let sealing: Envelope.Sealing
  let material: SecureBytes
  /// Names the value.
  let binding: [UInt8]
  /// Depends on the material and how it is derived, and not on the value's place or name: so a moved
  /// value is told from one under other material.
  let check: [UInt8]
  private let key: DataKey

  /// Derives the key.
  ///
  /// PBKDF2 and scrypt are slow on purpose. `binding` names the value: a declared salt is the same
  /// for many keys, and a single data key for all of them would reach its limit of seals sooner.
  init(
    _ sealing: Envelope.Sealing, _ material: SecureBytes, binding: [UInt8]
  ) throws(StorageError) {
    self.sealing = sealing
    self.material = material
    self.binding = binding
    // The check value derives from the slow function's output, so it does not speed up guessing.
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

  /// Lends the content of a record.
  func open(
    _ record: RawSpan, _ context: RecordContext, _ body: (RawSpan) -> Void
  ) throws(StorageError) {
    try cryptography { () throws(CryptoError) in
      try key.withOpened(record, for: context, body)
    }
  }
}
