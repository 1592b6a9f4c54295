internal import COpenSSL

/// HMAC-SHA-512 (RFC 2104, FIPS 198-1) with one key.
///
/// Any thread may use it, many at once.
///
/// The two keyed states are made once and copied for each message. So a hash costs a quarter of a
/// one-shot HMAC.
public final class KeyedHash: Sendable {
  private let inner: DigestContext
  private let outer: DigestContext
  private let scratch: ContextPool<DigestContext>

  /// Makes a hash with `key`, which may have any length.
  ///
  /// - Throws: `CryptoError` when OpenSSL has no memory or fails (`outOfMemory`, `library`).
  public init(_ key: SymmetricKey) throws(CryptoError) {
    // SHA-512 has blocks of 128 bytes; a longer key is replaced by its hash.
    let block = try SecureBytes(count: 128) { (span) throws(CryptoError) in
      try key.withBytes { (bytes) throws(CryptoError) in
        if bytes.byteCount <= 128 {
          for index in 0..<bytes.byteCount {
            span.storeBytes(
              of: unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self),
              toByteOffset: index, as: UInt8.self)
          }
        } else {
          let digest = try DigestContext()
          try digest.start()
          try digest.update(bytes)
          try unsafe span.withUnsafeMutableBytes { (raw) throws(CryptoError) in
            try unsafe digest.finish(into: raw.baseAddress!)
          }
        }
      }
    }
    inner = try Self.keyed(block, pad: 0x36)
    outer = try Self.keyed(block, pad: 0x5c)
    scratch = ContextPool { () throws(CryptoError) in try DigestContext() }
  }

  private static func keyed(
    _ block: SecureBytes, pad: UInt8
  ) throws(CryptoError) -> DigestContext {
    let padded = try SecureBytes(count: 128) { (span) throws(CryptoError) in
      block.withBytes { bytes in
        for index in 0..<128 {
          let byte = unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
          span.storeBytes(of: byte ^ pad, toByteOffset: index, as: UInt8.self)
        }
      }
    }
    let context = try DigestContext()
    try context.start()
    try padded.withBytes { (bytes) throws(CryptoError) in try context.update(bytes) }
    return context
  }

  /// Returns the 64-byte hash of a message.
  ///
  /// - Throws: `CryptoError` when OpenSSL has no memory or fails (`outOfMemory`, `library`).
  public func hash(_ message: RawSpan) throws(CryptoError) -> NameHash {
    try hash { (context) throws(CryptoError) in try context.update(message) }
  }

  /// Returns the 64-byte hash of a name's bytes followed by `rest`.
  ///
  /// - Throws: as ``hash(_:)``.
  package func hash(_ name: NameHash, _ rest: RawSpan) throws(CryptoError) -> NameHash {
    try hash { (context) throws(CryptoError) in
      let words = name.words
      try unsafe withUnsafeBytes(of: words) { (bytes) throws(CryptoError) in
        try context.update(unsafe RawSpan(_unsafeBytes: bytes))
      }
      try context.update(rest)
    }
  }

  @inline(__always)
  private func hash(
    _ message: (DigestContext) throws(CryptoError) -> Void
  ) throws(CryptoError) -> NameHash {
    try unsafe withUnsafeTemporaryAllocation(byteCount: 64, alignment: 8) {
      (digest) throws(CryptoError) in
      defer { unsafe Wipe.buffer(digest) }
      let start = digest.baseAddress!
      try scratch.with { (context) throws(CryptoError) in
        try context.copyState(of: inner)
        try message(context)
        try unsafe context.finish(into: start)
        try context.copyState(of: outer)
        try context.update(unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(digest)))
        try unsafe context.finish(into: start)
      }
      return unsafe NameHash(digest)!
    }
  }

  /// Returns the hash of the UTF-8 bytes of a key name.
  ///
  /// Names that differ only in Unicode normalisation have different bytes, and so different hashes.
  ///
  /// - Throws: `CryptoError` when OpenSSL has no memory or fails (`outOfMemory`, `library`).
  public func hash(name: String) throws(CryptoError) -> NameHash {
    try unsafe hash(name.utf8Span.span.bytes)
  }
}
