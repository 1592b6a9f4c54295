private import Glibc

/// The calling thread's queue of OpenSSL errors, looked at from outside.
///
/// Through dlsym(3), since only CryptoCore may import OpenSSL.
package enum OpenSSLErrorQueue {
  private typealias Number = @convention(c) () -> UInt
  private typealias Clear = @convention(c) () -> Void
  private typealias Fetch =
    @convention(c) (OpaquePointer?, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> OpaquePointer?

  /// ERR_peek_last_error(3): the newest entry, left where it is; 0 when there is none.
  package static var newest: UInt { function("ERR_peek_last_error", as: Number.self)() }

  /// Whether there is no entry.
  package static var isEmpty: Bool { newest == 0 }

  /// ERR_clear_error(3): drops all entries.
  package static func clear() { function("ERR_clear_error", as: Clear.self)() }

  /// Queues an entry, by asking for a cipher that there isn't, and returns its packed number.
  package static func push() -> UInt {
    let fetch = unsafe function("EVP_CIPHER_fetch", as: Fetch.self)
    precondition(unsafe fetch(nil, "NO-SUCH-CIPHER", nil) == nil)
    return newest
  }

  private static func function<Function>(_ name: String, as type: Function.Type) -> Function {
    guard let symbol = unsafe dlsym(nil, name) else { fatalError("libcrypto has no \(name)") }
    return unsafe unsafeBitCast(symbol, to: type)
  }
}
