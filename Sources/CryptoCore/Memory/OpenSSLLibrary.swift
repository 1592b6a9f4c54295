internal import COpenSSL

/// Sets OpenSSL up before its first use.
enum OpenSSLLibrary {
  /// Stops OpenSSL from freeing its data at exit.
  ///
  /// OpenSSL's own handler of atexit(3) frees data that other threads, and handlers that were
  /// registered before, may still use: OPENSSL_init_crypto(3), OPENSSL_INIT_NO_ATEXIT. Keys are not
  /// affected, because they are in memory of this package.
  static func prepare() { _ = isPrepared }

  // This fails only if OpenSSL has already freed its data, and then the next call fails too.
  private static let isPrepared = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
}
