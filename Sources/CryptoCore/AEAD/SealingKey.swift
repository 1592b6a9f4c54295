/// A key that seals any number of short messages with XAES-256-GCM (C2SP).
///
/// Any thread may use it, many at once. Sealing 1,100 bytes takes about 1 us. Nonces are random and
/// have 192 bits, so seals need not be counted. As with every GCM, a sealed message does not commit
/// to its key.
public final class SealingKey: Sendable {
  private static let algorithm = AEADAlgorithm.xaes256GCM
  private static let nonceSize = algorithm.nonceSize
  /// How many bytes longer a sealed message is than the message: a nonce before and a tag behind
  /// it.
  public static let overhead = algorithm.nonceSize + AEADAlgorithm.tagSize

  private let key: AEADKey

  /// Makes a sealing key from a key of 32 bytes.
  ///
  /// - Throws: `CryptoError`: `invalidParameter` for a key of another length, `outOfMemory` or
  ///   `library` when OpenSSL fails.
  public init(_ key: SymmetricKey) throws(CryptoError) {
    self.key = try AEADKey(key, algorithm: Self.algorithm)
  }

  /// Seals a message with a fresh random nonce.
  ///
  /// - Parameters:
  ///   - message: at most 2^31 - 33 bytes.
  ///   - data: associated data, which must be the same at opening and is not stored.
  ///   - output: ``overhead`` bytes longer than `message`; receives nonce, ciphertext and tag.
  /// - Throws: `CryptoError`: `invalidParameter` for wrong lengths, `library` for a failure of
  ///   OpenSSL.
  public func seal(
    _ message: RawSpan, authenticating data: RawSpan, into output: inout MutableRawSpan
  ) throws(CryptoError) {
    guard output.byteCount == message.byteCount + Self.overhead else { throw Self.wrongLength }
    try unsafe message.withUnsafeBytes { (message) throws(CryptoError) in
      try unsafe data.withUnsafeBytes { (data) throws(CryptoError) in
        try unsafe output.withUnsafeMutableBytes { (output) throws(CryptoError) in
          let nonce = output.baseAddress!
          // Not from NoncePool, whose nonces were drawn before: a copied machine would use the same
          // ones. Two messages with one nonce reveal the authentication key of all messages with
          // that nonce.
          var fresh = unsafe MutableRawSpan(_unsafeStart: nonce, byteCount: Self.nonceSize)
          try SecureRandom.fillPublic(&fresh)
          try unsafe key.seal(
            nonce: nonce, associatedData: data, plaintext: message, into: nonce + Self.nonceSize)
        }
      }
    }
  }

  /// Opens a sealed message.
  ///
  /// - Parameters:
  ///   - sealed: the output of ``seal(_:authenticating:into:)``.
  ///   - data: the same associated data as at sealing.
  ///   - output: ``overhead`` bytes shorter than `sealed`; receives the message, or zeroes when
  ///     this throws.
  /// - Throws: `CryptoError`: `authenticationFailed` when a byte differs from the sealed one,
  ///   `invalidParameter` for wrong lengths, `library` for a failure of OpenSSL.
  public func open(
    _ sealed: RawSpan, authenticating data: RawSpan, into output: inout MutableRawSpan
  ) throws(CryptoError) {
    guard output.byteCount > 0, sealed.byteCount == output.byteCount + Self.overhead else {
      throw Self.wrongLength
    }
    try unsafe sealed.withUnsafeBytes { (sealed) throws(CryptoError) in
      try unsafe data.withUnsafeBytes { (data) throws(CryptoError) in
        try unsafe output.withUnsafeMutableBytes { (output) throws(CryptoError) in
          let nonce = sealed.baseAddress!
          let text = unsafe UnsafeRawBufferPointer(
            start: nonce + Self.nonceSize, count: output.count)
          try unsafe key.open(
            nonce: nonce, associatedData: data, ciphertext: text,
            tag: nonce + Self.nonceSize + output.count, into: output.baseAddress!)
        }
      }
    }
  }

  private static let wrongLength = CryptoError(
    .invalidParameter, "a sealed message must be \(overhead) bytes longer than the message")
}
