internal import Glibc

/// The kernel's random generator.
///
/// Not RAND_bytes(3): a forked child's first call reseeds from a generator that all threads share,
/// and waits for ever when one of the parent's threads held its lock at the fork. For a key or a
/// nonce the kernel also takes half the time.
package enum SecureRandom {
  /// Fills `span` with bytes that stay secret.
  package static func fillPrivate(_ span: inout MutableRawSpan) throws(CryptoError) {
    try fill(&span)
  }

  /// Fills `span` with bytes that others see.
  package static func fillPublic(_ span: inout MutableRawSpan) throws(CryptoError) {
    try fill(&span)
  }

  /// Public random bytes: salts, identifiers, nonces.
  package static func publicBytes(count: Int) throws(CryptoError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var span = bytes.mutableSpan
    var raw = unsafe span.mutableBytes
    try fillPublic(&raw)
    return bytes
  }

  private static func fill(_ span: inout MutableRawSpan) throws(CryptoError) {
    try unsafe span.withUnsafeMutableBytes { (buffer) throws(CryptoError) in
      var filled = 0
      while filled < buffer.count {
        // getentropy(3): at most 256 bytes a call, and then never fewer than asked for.
        let count = min(256, buffer.count - filled)
        guard unsafe getentropy(buffer.baseAddress! + filled, count) == 0 else {
          throw CryptoError(.library, "getentropy failed with errno \(errno)")
        }
        filled += count
      }
    }
  }
}
