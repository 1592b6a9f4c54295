private import Glibc

/// OpenSSL's random generator, used as a program's other libraries may use it.
///
/// Through dlsym(3), since only CryptoCore may import OpenSSL.
package enum OpenSSLRandom {
  private typealias Draw = @convention(c) (UnsafeMutablePointer<UInt8>?, Int32) -> Int32

  private static let function: Draw = {
    guard let symbol = unsafe dlsym(nil, "RAND_bytes") else { fatalError("no RAND_bytes") }
    return unsafe unsafeBitCast(symbol, to: Draw.self)
  }()

  /// RAND_bytes(3): draws a byte.
  ///
  /// A thread's first draw seeds its own generator from one that all threads share, under a lock.
  package static func draw() {
    var byte: UInt8 = 0
    precondition(unsafe function(&byte, 1) == 1, "RAND_bytes failed")
  }
}
