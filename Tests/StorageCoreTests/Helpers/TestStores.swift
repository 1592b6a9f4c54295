import CryptoCore
import Foundation
import StorageCore

extension DelegatedStorage {
  /// A storage over `delegate` that swallows what it reports.
  static func quiet(
    _ delegate: any StorageDelegate, _ source: KeySource, algorithm: AEADAlgorithm = .aes256GCM,
    tag: String? = nil
  ) -> DelegatedStorage {
    DelegatedStorage(
      delegate, keySource: source, algorithm: algorithm,
      authenticationTag: tag.map { Data($0.utf8) }, errorClosure: { _ in })
  }

  /// A storage of its own in memory that swallows what it reports.
  static func fresh() -> DelegatedStorage { quiet(OpenDelegate(), .key(.fresh)) }
}

extension SymmetricKey {
  /// A new random key of 256 bits.
  static var fresh: SymmetricKey { SymmetricKey(size: .bits256) }

  /// A key whose 32 bytes are all the same.
  static func repeating(_ byte: UInt8) -> SymmetricKey {
    SymmetricKey(data: [UInt8](repeating: byte, count: 32))
  }
}

extension PassphraseDerivation {
  /// One that takes no time.
  static let quick = PassphraseDerivation.scrypt(cost: 16).withoutFloor
}

extension KeySource {
  /// The same source, with a derivation that takes no time where it gives a passphrase.
  var quick: KeySource {
    KeySource(
      candidates.map { candidate in
        var quick = candidate
        quick.derivation = .quick
        return quick
      })
  }
}
