internal import COpenSSL

/// OpenSSL's random generators, which reseed themselves in a forked child.
package enum SecureRandom {
  /// Fills `span` from the generator for values that stay secret. RAND_priv_bytes(3).
  package static func fillPrivate(_ span: inout MutableRawSpan) throws(CryptoError) {
    try unsafe fill(&span, "RAND_priv_bytes") { unsafe RAND_priv_bytes($0, $1) }
  }

  /// Fills `span` from the generator for values that others see. RAND_bytes(3).
  package static func fillPublic(_ span: inout MutableRawSpan) throws(CryptoError) {
    try unsafe fill(&span, "RAND_bytes") { unsafe RAND_bytes($0, $1) }
  }

  /// Public random bytes: salts, identifiers, nonces.
  package static func publicBytes(count: Int) throws(CryptoError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var span = bytes.mutableSpan
    var raw = unsafe span.mutableBytes
    try fillPublic(&raw)
    return bytes
  }

  private static func fill(
    _ span: inout MutableRawSpan, _ call: StaticString,
    _ generate: (UnsafeMutablePointer<UInt8>?, Int32) -> Int32
  ) throws(CryptoError) {
    guard let count = Int32(exactly: span.byteCount) else {
      throw CryptoError(.invalidParameter, "too many random bytes asked for at once")
    }
    let result = unsafe span.withUnsafeMutableBytes { buffer in
      unsafe generate(buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), count)
    }
    guard count == 0 || result == 1 else { throw CryptoError(library: "\(call)") }
  }
}
