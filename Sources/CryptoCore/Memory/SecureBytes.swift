internal import COpenSSL

/// Bytes in locked memory, excluded from core dumps, that are wiped when the last reference goes
/// away.
///
/// `print`, `dump` and `String(reflecting:)` show only the count. The bytes never change after
/// `init`, so any thread may read them. A caller who copies the bytes inside ``withBytes(_:)`` has
/// to wipe the copy.
@safe
public final class SecureBytes: Sendable {
  // Written only in `init` and `deinit`, so reads from any thread are sound.
  private nonisolated(unsafe) let buffer: UnsafeMutableRawBufferPointer

  /// The number of bytes.
  public var count: Int { unsafe buffer.count }

  /// Makes `count` zeroed bytes and lets `initializer` fill them.
  ///
  /// - Parameters:
  ///   - count: the number of bytes; 0 is allowed.
  ///   - initializer: fills the bytes, once, before anyone else can see them.
  /// - Throws: ``CryptoError/Code/outOfMemory``, or the `CryptoError` that `initializer` throws.
  public init(
    count: Int, initializingWith initializer: (inout MutableRawSpan) throws(CryptoError) -> Void
  ) throws(CryptoError) {
    precondition(count >= 0, "a count can't be negative")
    unsafe buffer = try SecureMemory.allocate(count: count)
    var span = unsafe MutableRawSpan(_unsafeBytes: buffer)
    // A throw from here on runs `deinit`, which wipes and frees.
    try initializer(&span)
  }

  /// Copies `bytes`.
  ///
  /// The caller has to wipe the source.
  ///
  /// - Throws: ``CryptoError/Code/outOfMemory``.
  public convenience init(_ bytes: some Collection<UInt8>) throws(CryptoError) {
    try self.init(count: bytes.count) { (span) throws(CryptoError) in
      unsafe span.withUnsafeMutableBytes { unsafe $0.copyBytes(from: bytes) }
    }
  }

  /// Copies the bytes of a span.
  ///
  /// The caller has to wipe the source.
  ///
  /// - Throws: ``CryptoError/Code/outOfMemory``.
  public convenience init(copying bytes: RawSpan) throws(CryptoError) {
    try self.init(count: bytes.byteCount) { (span) throws(CryptoError) in
      unsafe bytes.withUnsafeBytes { source in
        unsafe span.withUnsafeMutableBytes { unsafe $0.copyMemory(from: source) }
      }
    }
  }

  /// Makes fresh bytes with the kernel's random generator (getentropy(3)).
  ///
  /// - Throws: ``CryptoError/Code/library`` when the generator has no entropy, and
  ///   ``CryptoError/Code/outOfMemory``.
  public static func random(count: Int) throws(CryptoError) -> SecureBytes {
    try SecureBytes(count: count) { (span) throws(CryptoError) in
      try SecureRandom.fillPrivate(&span)
    }
  }

  deinit {
    unsafe SecureMemory.deallocate(buffer)
  }

  /// Lends the bytes to `body`; the span cannot outlive the call.
  public func withBytes<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(buffer)))
  }
}

extension SecureBytes: Equatable {
  /// Compares the bytes in a time that depends only on the counts.
  public static func == (left: SecureBytes, right: SecureBytes) -> Bool {
    left.withBytes { leftSpan in
      right.withBytes { ConstantTime.equal(leftSpan, $0) }
    }
  }
}

extension SecureBytes: RedactedDescription {
  /// The count, and no byte.
  public var description: String { "SecureBytes(\(count) bytes)" }
}

/// Comparison whose time does not show where two byte strings differ.
package enum ConstantTime {
  /// Whether the spans hold the same bytes.
  ///
  /// CRYPTO_memcmp(3).
  package static func equal(_ left: RawSpan, _ right: RawSpan) -> Bool {
    guard left.byteCount == right.byteCount else { return false }
    return unsafe left.withUnsafeBytes { leftBytes in
      unsafe right.withUnsafeBytes { rightBytes in
        guard let one = leftBytes.baseAddress, let other = rightBytes.baseAddress else {
          return true
        }
        return unsafe CRYPTO_memcmp(one, other, leftBytes.count) == 0
      }
    }
  }
}

/// Wipes ordinary memory that held a secret.
package enum Wipe {
  /// Overwrites the bytes of an array that has no other owner.
  package static func bytes(_ bytes: inout [UInt8]) {
    unsafe bytes.withUnsafeMutableBytes { unsafe Wipe.buffer($0) }
  }

  /// Overwrites a buffer.
  ///
  /// OPENSSL_cleanse(3) is not optimised away.
  package static func buffer(_ buffer: UnsafeMutableRawBufferPointer) {
    guard let start = buffer.baseAddress else { return }
    unsafe OPENSSL_cleanse(start, buffer.count)
  }
}
