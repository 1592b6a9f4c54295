internal import COpenSSL

/// The parameters of one derivation, and the derivation itself: EVP_KDF_derive(3).
///
/// An OSSL_PARAM points at its value. Here it points directly at a secret in secure memory, because
/// OSSL_PARAM_BLD would copy the secret to the ordinary heap and leave the copy there.
@safe
struct KDFParameters: ~Copyable {
  private var parameters: [OSSL_PARAM] = unsafe []
  private var copies: [UnsafeMutableRawBufferPointer] = unsafe []
  private var secrets: [SecureBytes] = []

  deinit {
    for index in unsafe copies.indices { unsafe copies[index].deallocate() }
  }

  mutating func add(_ name: String, text: String) {
    let value = unsafe copy(Array(text.utf8) + [0])
    unsafe parameters.append(
      OSSL_PARAM_construct_utf8_string(
        key(name), value.baseAddress?.assumingMemoryBound(to: CChar.self), 0))
  }

  mutating func add(_ name: String, bytes: [UInt8]) {
    let value = unsafe copy(bytes)
    unsafe parameters.append(
      OSSL_PARAM_construct_octet_string(key(name), value.baseAddress, bytes.count))
  }

  mutating func add(_ name: String, secret: SecureBytes) {
    secrets.append(secret)
    let start = unsafe secret.withBytes { unsafe $0.withUnsafeBytes { $0.baseAddress } }
    // An empty secret needs an address too: NULL would mean that there is no secret.
    let address = unsafe start ?? UnsafeRawPointer(copy([0]).baseAddress!)
    unsafe parameters.append(
      OSSL_PARAM_construct_octet_string(
        key(name), UnsafeMutableRawPointer(mutating: address), secret.count))
  }

  mutating func add(_ name: String, number: UInt64) {
    let value = unsafe copy(withUnsafeBytes(of: number) { unsafe [UInt8]($0) })
    unsafe parameters.append(
      OSSL_PARAM_construct_uint64(
        key(name), value.baseAddress?.assumingMemoryBound(to: UInt64.self)))
  }

  mutating func add(_ name: String, shortNumber number: UInt32) {
    let value = unsafe copy(withUnsafeBytes(of: number) { unsafe [UInt8]($0) })
    unsafe parameters.append(
      OSSL_PARAM_construct_uint32(
        key(name), value.baseAddress?.assumingMemoryBound(to: UInt32.self)))
  }

  /// Runs the function `name` of OpenSSL's default provider.
  consuming func derive(_ name: String, count: Int) throws(CryptoError) -> SecureBytes {
    OpenSSLLibrary.prepare()
    guard let kdf = unsafe EVP_KDF_fetch(nil, name, nil) else {
      throw CryptoError(library: "this OpenSSL does not offer \(name)", code: .unsupported)
    }
    defer { unsafe EVP_KDF_free(kdf) }
    guard let context = unsafe EVP_KDF_CTX_new(kdf) else {
      throw CryptoError(library: "EVP_KDF_CTX_new", code: .outOfMemory)
    }
    defer { unsafe EVP_KDF_CTX_free(context) }
    let terminated = unsafe parameters + [OSSL_PARAM_construct_end()]
    return try SecureBytes(count: count) { (span) throws(CryptoError) in
      let result = unsafe span.withUnsafeMutableBytes { output in
        unsafe terminated.withUnsafeBufferPointer { list in
          unsafe EVP_KDF_derive(
            context, output.baseAddress?.assumingMemoryBound(to: UInt8.self), output.count,
            list.baseAddress)
        }
      }
      guard result == 1 else { throw CryptoError(library: "EVP_KDF_derive of \(name)") }
    }
  }

  private mutating func key(_ name: String) -> UnsafePointer<CChar> {
    let bytes = unsafe copy(Array(name.utf8) + [0])
    return unsafe UnsafePointer(bytes.baseAddress!.assumingMemoryBound(to: CChar.self))
  }

  private mutating func copy(_ bytes: [UInt8]) -> UnsafeMutableRawBufferPointer {
    // One extra byte, so that an empty value has an address too.
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count + 1, alignment: 16)
    unsafe buffer.copyBytes(from: bytes)
    unsafe copies.append(buffer)
    return unsafe buffer
  }
}
