/// A size of a ``SymmetricKey``.
public struct SymmetricKeySize: Hashable, Sendable {
  /// The size in bits, a multiple of 8.
  public let bitCount: Int

  /// Makes a size of `bitCount` bits.
  ///
  /// - Parameter bitCount: a positive multiple of 8.
  public init(bitCount: Int) {
    precondition(bitCount > 0 && bitCount % 8 == 0, "a key size is a positive multiple of 8 bits")
    self.bitCount = bitCount
  }

  /// 128 bits.
  ///
  /// No cipher of this package takes it; it is for material to derive keys from.
  public static let bits128 = SymmetricKeySize(bitCount: 128)
  /// 192 bits.
  ///
  /// No cipher of this package takes it; it is for material to derive keys from.
  public static let bits192 = SymmetricKeySize(bitCount: 192)
  /// 256 bits, the size for every cipher of this package.
  public static let bits256 = SymmetricKeySize(bitCount: 256)
}

/// A secret key in locked memory, excluded from core dumps, that is wiped when its last copy goes
/// away.
///
/// Copies share the bytes. A key is never printed, dumped or encoded: `description`, `dump(_:)` and
/// `Mirror` show only its size, and it is not `Codable`. Any thread may use it.
public struct SymmetricKey: Sendable, Equatable {
  /// The bytes of the key.
  package let bytes: SecureBytes

  /// The size of the key in bits.
  public var bitCount: Int { bytes.count * 8 }

  /// Makes a fresh random key.
  ///
  /// The process ends when there is no memory or no entropy for a key, as with `CryptoKit`;
  /// ``random(size:)`` throws instead.
  public init(size: SymmetricKeySize) {
    do {
      self = try .random(size: size)
    } catch {
      fatalError("no key could be made: \(error)")  // fewer random bits would be unsafe
    }
  }

  /// Makes a fresh random key.
  ///
  /// - Parameter size: the size; the default is ``SymmetricKeySize/bits256``.
  /// - Returns: the key.
  /// - Throws: `CryptoError` when there is no memory (`outOfMemory`) or no entropy (`library`).
  public static func random(size: SymmetricKeySize = .bits256) throws(CryptoError) -> SymmetricKey {
    SymmetricKey(bytes: try .random(count: size.bitCount / 8))
  }

  /// Makes a key by copying the given bytes, which the caller should wipe.
  ///
  /// This accepts any length; the ciphers and key sources refuse all but 32 bytes. The process ends
  /// when there is no memory for the key, as with `CryptoKit`. To get an error instead, make
  /// ``SecureBytes``, which throw, and use ``init(bytes:)``.
  public init(data: some Collection<UInt8>) {
    do {
      bytes = try SecureBytes(data)
    } catch {
      fatalError("no memory for a key: \(error)")
    }
  }

  /// Makes a key that shares `bytes`.
  public init(bytes: SecureBytes) {
    self.bytes = bytes
  }

  /// Lends the bytes of the key to `body`; the span cannot outlive the call.
  public func withBytes<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try bytes.withBytes(body)
  }
}

extension SymmetricKey: RedactedDescription {
  /// The size, and no byte.
  public var description: String { "SymmetricKey(\(bitCount) bits)" }
}
