/// An authenticated cipher with 256-bit keys and 128-bit tags.
public struct AEADAlgorithm: Hashable, Sendable {
  /// The number that stands for the algorithm in a record; see docs/file-format.md.
  package let rawValue: UInt8

  private init(rawValue: UInt8) { self.rawValue = rawValue }

  /// AES-256 in Galois/Counter Mode, NIST SP 800-38D, with random 96-bit nonces.
  ///
  /// The default, and the fastest of the three. A key seals at most 2^31 records.
  public static let aes256GCM = AEADAlgorithm(rawValue: 1)
  /// ChaCha20-Poly1305, RFC 8439, with random 96-bit nonces.
  ///
  /// For machines without AES instructions. A key seals at most 2^31 records.
  public static let chaCha20Poly1305 = AEADAlgorithm(rawValue: 2)
  /// XAES-256-GCM, C2SP: AES-256-GCM with a key derived from each 192-bit nonce.
  ///
  /// Use it for keys whose seals can't be counted: random nonces do not run out in practice. It is
  /// slower.
  public static let xaes256GCM = AEADAlgorithm(rawValue: 3)

  /// Makes the algorithm of a number read from a record; nil when this version does not know the
  /// number.
  package init?(code: UInt8) {
    guard (1...3).contains(code) else { return nil }
    self.init(rawValue: code)
  }

  /// The length of the nonce in bytes.
  package var nonceSize: Int { self == .xaes256GCM ? 24 : 12 }

  /// The length of the tag in bytes, for every algorithm.
  public static let tagSize = 16

  /// The length of a key in bytes, for every algorithm.
  package static let keySize = 32

  /// Whether a key must be replaced before 2^31 seals, NIST SP 800-38D section 8.3.
  package var countsSeals: Bool { self != .xaes256GCM }
}

extension AEADAlgorithm: CustomStringConvertible {
  /// The usual name of the algorithm.
  public var description: String {
    switch self {
    case .aes256GCM: "AES-256-GCM"
    case .chaCha20Poly1305: "ChaCha20-Poly1305"
    default: "XAES-256-GCM"
    }
  }
}
