/// The hash of a sealed stream: SHA-256 over the SHA-256 hashes of its sealed segments, in order.
///
/// A tag does not stand for a segment: whoever has the key of a stream can make other segments of
/// the same tag. So what must not change for those who have the key is bound by this hash. It has
/// two levels, so that a reader which has checked the whole can check each segment again when it
/// reads that segment.
///
/// For one thread at a time.
package final class StreamDigest {
  /// The number of bytes of a hash.
  package static let byteCount = 32

  private let segment: DigestContext
  private let whole: DigestContext

  /// Begins with no segment.
  ///
  /// - Throws: `CryptoError` when OpenSSL has no memory or fails (`outOfMemory`, `library`).
  package init() throws(CryptoError) {
    segment = try DigestContext(.sha256)
    whole = try DigestContext(.sha256)
    try whole.start()
  }

  /// Takes the next segment, with its tag.
  ///
  /// - Returns: the hash of the segment.
  /// - Throws: `CryptoError`: `library` for a failure of OpenSSL; the digest is of no use then.
  @discardableResult
  package func append(_ sealed: RawSpan) throws(CryptoError) -> [UInt8] {
    let hash = try hash(of: sealed)
    try whole.update(unsafe hash.span.bytes)
    return hash
  }

  /// The hash of a segment alone, with its tag.
  ///
  /// - Throws: `CryptoError`: `library` for a failure of OpenSSL.
  package func hash(of sealed: RawSpan) throws(CryptoError) -> [UInt8] {
    try segment.start()
    try segment.update(sealed)
    return try Self.finish(segment)
  }

  /// The hash of all segments that were taken; nothing can be taken afterwards.
  ///
  /// - Throws: `CryptoError`: `library` for a failure of OpenSSL.
  package func finish() throws(CryptoError) -> [UInt8] { try Self.finish(whole) }

  private static func finish(_ context: DigestContext) throws(CryptoError) -> [UInt8] {
    var hash = [UInt8](repeating: 0, count: byteCount)
    var span = hash.mutableSpan
    var bytes = unsafe span.mutableBytes
    try unsafe bytes.withUnsafeMutableBytes { (bytes) throws(CryptoError) in
      try unsafe context.finish(into: bytes.baseAddress!)
    }
    return hash
  }
}
