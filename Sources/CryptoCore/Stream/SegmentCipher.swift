/// Seals the segments of one stream in order, with the STREAM construction of Hoang, Reyhanitabar,
/// Rogaway and Vizar (2015).
///
/// A nonce consists of the segment's number, 11 bytes, and a byte that marks the last segment. No
/// caller chooses a nonce, and no nonce is used twice: the sealer makes a key for this stream only,
/// numbers the segments itself, and seals nothing after the last one, nor in a child of fork(2),
/// whose parent goes on with the same key and numbers. For one thread at a time.
package final class SegmentSealer {
  /// The key of this stream; it also opens the stream.
  package let key: SymmetricKey
  private let cipher: AEADKey
  private let associatedData: [UInt8]
  private var count: UInt64 = 0
  private var isEnded = false
  private let process = OwnProcess()

  /// Begins a stream with a fresh random key of 256 bits.
  ///
  /// - Parameters:
  ///   - algorithm: `aes256GCM` or `chaCha20Poly1305`.
  ///   - associatedData: the data that every segment is bound to, besides its number.
  /// - Throws: `CryptoError`: `unsupported` for another algorithm, `outOfMemory`, `library`.
  package convenience init(
    _ algorithm: AEADAlgorithm, associatedData: [UInt8]
  ) throws(CryptoError) {
    try self.init(algorithm, key: .random(), associatedData: associatedData)
  }

  /// Begins a stream with a given key, for test vectors only: a key must never seal two streams.
  init(
    _ algorithm: AEADAlgorithm, key: SymmetricKey, associatedData: [UInt8]
  ) throws(CryptoError) {
    try SegmentNonce.check(algorithm)
    let cipher = try AEADKey(key, algorithm: algorithm)
    self.key = key
    self.cipher = cipher
    self.associatedData = associatedData
  }

  /// Seals the next segment.
  ///
  /// - Parameters:
  ///   - plaintext: the bytes of the segment.
  ///   - isLast: whether no segment follows.
  ///   - output: 16 bytes longer than `plaintext`; receives ciphertext and tag.
  /// - Throws: `CryptoError`: `invalidParameter` after the last segment, in a forked child, or for
  ///   an output of another length, `library` for a failure of OpenSSL.
  package func seal(
    _ plaintext: RawSpan, isLast: Bool, into output: inout MutableRawSpan
  ) throws(CryptoError) {
    guard !isEnded, output.byteCount == plaintext.byteCount + AEADAlgorithm.tagSize else {
      throw CryptoError(
        .invalidParameter,
        "the last segment is sealed already, or the output is not 16 bytes longer than the segment")
    }
    guard process.isCurrent else {
      throw CryptoError(
        .invalidParameter, "the stream was begun before fork(2) and can't be sealed in the child")
    }
    let number = count
    count += 1
    isEnded = isLast
    let associatedData = associatedData
    let bound = unsafe associatedData.span.bytes
    try unsafe SegmentNonce.with(number, isLast: isLast) { (nonce) throws(CryptoError) in
      try unsafe plaintext.withUnsafeBytes { (plaintext) throws(CryptoError) in
        try unsafe bound.withUnsafeBytes { (associatedData) throws(CryptoError) in
          try unsafe output.withUnsafeMutableBytes { (output) throws(CryptoError) in
            try unsafe cipher.seal(
              nonce: nonce, associatedData: associatedData, plaintext: plaintext,
              into: output.baseAddress!)
          }
        }
      }
    }
  }
}

/// Opens the segments of one stream, in any order.
///
/// Any thread may use it, many at once.
package final class SegmentOpener: Sendable {
  private let cipher: AEADKey
  private let associatedData: [UInt8]

  /// Makes an opener for a stream.
  ///
  /// - Parameters:
  ///   - algorithm: the algorithm that sealed the stream.
  ///   - key: the key of the stream.
  ///   - associatedData: the data that the segments are bound to.
  /// - Throws: `CryptoError`: `unsupported` for an algorithm that can't seal streams,
  ///   `invalidParameter` for a key that does not have 256 bits, `outOfMemory`, `library`.
  package init(
    _ algorithm: AEADAlgorithm, key: SymmetricKey, associatedData: [UInt8]
  ) throws(CryptoError) {
    try SegmentNonce.check(algorithm)
    cipher = try AEADKey(key, algorithm: algorithm)
    self.associatedData = associatedData
  }

  /// Opens a segment.
  ///
  /// - Parameters:
  ///   - sealed: ciphertext and tag.
  ///   - number: the number of the segment in the stream, from 0.
  ///   - isLast: whether the segment must be the last one.
  ///   - output: 16 bytes shorter than `sealed`; all zero when this throws.
  /// - Throws: `CryptoError`: `authenticationFailed` for any other segment, `malformed` for wrong
  ///   lengths, `library` for a failure of OpenSSL.
  package func open(
    _ sealed: RawSpan, number: UInt64, isLast: Bool, into output: inout MutableRawSpan
  ) throws(CryptoError) {
    let count = sealed.byteCount - AEADAlgorithm.tagSize
    guard count > 0, output.byteCount == count else {
      throw CryptoError(.malformed, "a segment is too short, or the output has the wrong length")
    }
    let associatedData = associatedData
    let bound = unsafe associatedData.span.bytes
    try unsafe SegmentNonce.with(number, isLast: isLast) { (nonce) throws(CryptoError) in
      try unsafe sealed.withUnsafeBytes { (sealed) throws(CryptoError) in
        try unsafe bound.withUnsafeBytes { (associatedData) throws(CryptoError) in
          try unsafe output.withUnsafeMutableBytes { (output) throws(CryptoError) in
            try unsafe cipher.open(
              nonce: nonce, associatedData: associatedData,
              ciphertext: .init(rebasing: sealed[..<count]), tag: sealed.baseAddress! + count,
              into: output.baseAddress!)
          }
        }
      }
    }
  }
}

/// The 12 bytes of a segment's nonce: 11 bytes of its number, most significant first, then 1 for
/// the last segment or 0.
private enum SegmentNonce {
  /// Refuses XAES, which derives a key for every nonce: a stream has a key of its own already.
  static func check(_ algorithm: AEADAlgorithm) throws(CryptoError) {
    guard algorithm != .xaes256GCM else {
      throw CryptoError(.unsupported, "\(algorithm) can't seal streams")
    }
  }

  @inline(__always)
  static func with(
    _ number: UInt64, isLast: Bool, _ body: (UnsafeRawPointer) throws(CryptoError) -> Void
  ) throws(CryptoError) {
    var words = (
      UInt32(number >> 56).bigEndian, UInt32(truncatingIfNeeded: number >> 24).bigEndian,
      (UInt32(truncatingIfNeeded: number) << 8 | (isLast ? 1 : 0)).bigEndian
    )
    try unsafe withUnsafeBytes(of: &words) { (bytes) throws(CryptoError) in
      try unsafe body(bytes.baseAddress!)
    }
  }
}
