/// The 16 random bytes that tell one store from another.
///
/// Not secret.
public struct StoreID: Hashable, Sendable {
  /// The number of bytes.
  public static let byteCount = 16

  /// The 16 bytes.
  public let bytes: [UInt8]

  /// The identifier of 16 given bytes, or nil when there are more or fewer.
  public init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = Array(bytes)
  }

  /// A fresh identifier.
  ///
  /// - Throws: ``CryptoError/Code/library`` when the random generator fails.
  public static func random() throws(CryptoError) -> StoreID {
    StoreID(try SecureRandom.publicBytes(count: byteCount))!
  }
}
