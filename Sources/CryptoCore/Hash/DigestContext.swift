internal import COpenSSL

/// One EVP_MD_CTX.
///
/// Written by one thread at a time.
@safe
final class DigestContext: @unchecked Sendable {
  // KeyedHash has two contexts that are never written after `init`, and lends each other one to one
  // thread.
  private let context: OpaquePointer
  private let digest: DigestImplementation

  init(_ digest: DigestImplementation = .sha512) throws(CryptoError) {
    guard let context = unsafe EVP_MD_CTX_new() else {
      throw CryptoError(library: "EVP_MD_CTX_new", code: .outOfMemory)
    }
    unsafe self.context = context
    self.digest = digest
  }

  deinit {
    // EVP_MD_CTX_free(3) cleanses the state.
    unsafe EVP_MD_CTX_free(context)
  }

  func start() throws(CryptoError) {
    try requireSuccess(
      unsafe EVP_DigestInit_ex2(context, digest.pointer, nil), "EVP_DigestInit_ex2")
  }

  func copyState(of other: DigestContext) throws(CryptoError) {
    try requireSuccess(
      unsafe EVP_MD_CTX_copy_ex(context, other.context), "EVP_MD_CTX_copy_ex")
  }

  func update(_ message: RawSpan) throws(CryptoError) {
    let result = unsafe message.withUnsafeBytes { bytes in
      unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    }
    try requireSuccess(result, "EVP_DigestUpdate")
  }

  /// Writes the bytes of the digest.
  func finish(into output: UnsafeMutableRawPointer) throws(CryptoError) {
    var count: UInt32 = 0
    let result = unsafe EVP_DigestFinal_ex(
      context, output.assumingMemoryBound(to: UInt8.self), &count)
    guard result == 1, count == digest.size else {
      throw CryptoError(library: "EVP_DigestFinal_ex")
    }
  }
}

/// An EVP digest, fetched once.
@safe
struct DigestImplementation: @unchecked Sendable {
  // An EVP_MD is immutable and counted; each lives as long as the process.
  let pointer: OpaquePointer
  /// The bytes of a digest.
  let size: UInt32

  static let sha256 = DigestImplementation("SHA256", size: 32)
  static let sha512 = DigestImplementation("SHA512", size: 64)

  private init(_ name: String, size: UInt32) {
    OpenSSLLibrary.prepare()
    guard let pointer = unsafe EVP_MD_fetch(nil, name, nil) else {
      fatalError("OpenSSL's default provider has no \(name)")  // a broken installation
    }
    unsafe self.pointer = pointer
    self.size = size
  }
}
