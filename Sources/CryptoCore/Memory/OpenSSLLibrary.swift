internal import COpenSSL

/// What OpenSSL is told before it is used first.
enum OpenSSLLibrary {
  /// Has OpenSSL stay as it is at exit.
  ///
  /// Its own handler of atexit(3) takes apart what other threads, and handlers that were registered
  /// before, may still use: OPENSSL_init_crypto(3), OPENSSL_INIT_NO_ATEXIT. Keys are in memory of
  /// ours, which this changes nothing for.
  static func prepare() { _ = isPrepared }

  // It fails only where OpenSSL was taken apart already, and then so does what comes next.
  private static let isPrepared = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
}
