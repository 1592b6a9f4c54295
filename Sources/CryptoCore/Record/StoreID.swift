/// The 16 random bytes that tell one store from another.
///
/// They are not secret.
public struct StoreID: Hashable, Sendable {
  /// The number of bytes.
  public static let byteCount = 16

  /// The 16 bytes.
  public let bytes: [UInt8]

  /// Makes an identifier of 16 given bytes; nil for another number of bytes.
  public init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = Array(bytes)
  }

  /// Makes a fresh identifier.
  ///
  /// - Throws: ``CryptoError/Code/library`` when the random generator fails.
  public static func random() throws(CryptoError) -> StoreID {
    StoreID(try SecureRandom.publicBytes(count: byteCount))!
  }
}
