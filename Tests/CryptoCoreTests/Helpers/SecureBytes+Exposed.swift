import CryptoCore

extension SecureBytes {
  /// The bytes in an ordinary array, where a test may look at them.
  var exposed: [UInt8] {
    withBytes { span in unsafe span.withUnsafeBytes { unsafe [UInt8]($0) } }
  }

  /// Where the bytes are.
  var address: UInt {
    withBytes { span in
      unsafe span.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    }
  }
}
