/// A key that seals short messages as often as one likes: XAES-256-GCM (C2SP).
///
/// Any thread may use it, many at once. For 1,100 bytes it takes about 1 us. Nonces are random and of
/// 192 bits: seals need not be counted. As every GCM it does not commit to its key.
public final class SealingKey: Sendable {
  private static let algorithm = AEADAlgorithm.xaes256GCM
  private static let nonceSize = algorithm.nonceSize
  /// How many bytes longer than its message a sealed one is: a nonce before it and a tag behind it.
  public static let overhead = algorithm.nonceSize + AEADAlgorithm.tagSize

  private let key: AEADKey

  /// A key of 32 bytes.
  ///
  /// - Throws: `CryptoError`: `invalidParameter` for a key of another length, `outOfMemory` or
  ///   `library` when OpenSSL fails.
  public init(_ key: SymmetricKey) throws(CryptoError) {
    self.key = try AEADKey(key, algorithm: Self.algorithm)
  }

  /// Seals a message with a nonce of its own.
  ///
  /// - Parameters:
  ///   - message: at most 2^31 - 33 bytes.
  ///   - data: what has to be the same when it is opened, and is not stored.
  ///   - output: ``overhead`` bytes more than `message`; they become nonce, ciphertext and tag.
  /// - Throws: `CryptoError`: `invalidParameter` for wrong lengths, `library` for a failure of OpenSSL.
  public func seal(
    _ message: RawSpan, authenticating data: RawSpan, into output: inout MutableRawSpan
  ) throws(CryptoError) {
    guard output.byteCount == message.byteCount + Self.overhead else { throw Self.wrongLength }
    try unsafe message.withUnsafeBytes { (message) throws(CryptoError) in
      try unsafe data.withUnsafeBytes { (data) throws(CryptoError) in
        try unsafe output.withUnsafeMutableBytes { (output) throws(CryptoError) in
          let nonce = output.baseAddress!
          // Not those of NoncePool, which were drawn before: a machine that was copied meanwhile has them
          // too, and with two messages under one nonce the key of all that are under it is found.
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
  ///   - sealed: what ``seal(_:authenticating:into:)`` has written.
  ///   - data: what it was given.
  ///   - output: ``overhead`` bytes less than `sealed`, which become the message; all zero when this
  ///     throws.
  /// - Throws: `CryptoError`: `authenticationFailed` when a byte is not what was sealed,
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
    .invalidParameter, "a sealed message is \(overhead) bytes longer than the message")
}
