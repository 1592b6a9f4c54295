internal import Glibc

/// The kernel's random generator.
///
/// RAND_bytes(3) is not used: the first call in a forked child takes a seed from a generator that
/// all threads share, and hangs if a thread of the parent held its lock at the fork. The kernel
/// also takes half the time for a key or a nonce.
package enum SecureRandom {
  /// Fills `span` with bytes that stay secret.
  package static func fillPrivate(_ span: inout MutableRawSpan) throws(CryptoError) {
    try fill(&span)
  }

  /// Fills `span` with bytes that may become public.
  package static func fillPublic(_ span: inout MutableRawSpan) throws(CryptoError) {
    try fill(&span)
  }

  /// Makes public random bytes, for salts, identifiers and nonces.
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
        // getentropy(3): at most 256 bytes for each call, and never fewer bytes than requested.
        let count = min(256, buffer.count - filled)
        guard unsafe getentropy(buffer.baseAddress! + filled, count) == 0 else {
          throw CryptoError(.library, "getentropy failed with errno \(errno)")
        }
        filled += count
      }
    }
  }
}
