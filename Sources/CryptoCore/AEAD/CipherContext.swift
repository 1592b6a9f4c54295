internal import COpenSSL

/// The ciphers of EVP, fetched once: an implicit fetch on every use costs half a microsecond.
@safe
struct CipherImplementation: @unchecked Sendable {
  // An EVP_CIPHER is immutable and counted; this one lives as long as the process.
  let pointer: OpaquePointer

  private init(fetching name: String) {
    OpenSSLLibrary.prepare()
    guard let pointer = unsafe EVP_CIPHER_fetch(nil, name, nil) else {
      fatalError("OpenSSL's default provider has no \(name)")  // a broken installation
    }
    unsafe self.pointer = pointer
  }

  static let aes256GCM = CipherImplementation(fetching: "AES-256-GCM")
  static let chaCha20Poly1305 = CipherImplementation(fetching: "ChaCha20-Poly1305")
  static let aes256ECB = CipherImplementation(fetching: "AES-256-ECB")
}

/// One EVP_CIPHER_CTX that keeps its expanded key between messages.
///
/// Used by one thread at a time.
///
/// The context lives in OpenSSL's ordinary heap and is cleansed when freed.
@safe
struct CipherContext: ~Copyable {
  private let context: OpaquePointer

  init(_ cipher: CipherImplementation, encrypts: Bool) throws(CryptoError) {
    guard let context = unsafe EVP_CIPHER_CTX_new() else {
      throw CryptoError(library: "EVP_CIPHER_CTX_new", code: .outOfMemory)
    }
    let result = unsafe EVP_CipherInit_ex2(
      context, cipher.pointer, nil, nil, encrypts ? 1 : 0, nil)
    guard result == 1 else {
      unsafe EVP_CIPHER_CTX_free(context)
      throw CryptoError(library: "EVP_CipherInit_ex2")
    }
    unsafe self.context = context
  }

  deinit {
    unsafe EVP_CIPHER_CTX_free(context)
  }

  /// Expands a key of 32 bytes.
  func setKey(_ key: UnsafeRawPointer) throws(CryptoError) {
    let bytes = unsafe key.assumingMemoryBound(to: UInt8.self)
    try requireSuccess(
      unsafe EVP_CipherInit_ex2(context, nil, bytes, nil, -1, nil), "EVP_CipherInit_ex2")
  }

  /// Encrypts whole blocks without chaining or padding, for key derivation.
  func encryptBlocks(
    _ input: UnsafeRawPointer, count: Int32, into output: UnsafeMutableRawPointer
  ) throws(CryptoError) {
    var written: Int32 = 0
    try requireSuccess(unsafe EVP_CIPHER_CTX_set_padding(context, 0), "EVP_CIPHER_CTX_set_padding")
    let result = unsafe EVP_EncryptUpdate(
      context, output.assumingMemoryBound(to: UInt8.self), &written,
      input.assumingMemoryBound(to: UInt8.self), count)
    try requireSuccess(result, "EVP_EncryptUpdate")
    guard written == count else { throw CryptoError(library: "EVP_EncryptUpdate: short output") }
  }

  /// Seals one message.
  ///
  /// `output` has room for the ciphertext and, right behind it, the tag.
  @inline(__always)
  func seal(
    nonce: UnsafeRawPointer, associatedData: UnsafeRawBufferPointer,
    plaintext: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer
  ) throws(CryptoError) {
    let bytes = unsafe output.assumingMemoryBound(to: UInt8.self)
    var written: Int32 = 0
    guard
      unsafe EVP_EncryptInit_ex2(
        context, nil, nil, nonce.assumingMemoryBound(to: UInt8.self), nil) == 1
    else { throw CryptoError(library: "EVP_EncryptInit_ex2") }
    try unsafe update(EVP_EncryptUpdate, associatedData, into: nil, written: &written)
    try unsafe update(EVP_EncryptUpdate, plaintext, into: bytes, written: &written)
    var rest: Int32 = 0
    guard unsafe EVP_EncryptFinal_ex(context, bytes + plaintext.count, &rest) == 1, rest == 0
    else { throw CryptoError(library: "EVP_EncryptFinal_ex") }
    let tag = unsafe output + plaintext.count
    guard unsafe Self.withTag(tag, { unsafe EVP_CIPHER_CTX_get_params(context, $0) }) == 1
    else { throw CryptoError(library: "EVP_CIPHER_CTX_get_params") }
  }

  /// Opens one message.
  ///
  /// `output` has room for the plaintext, and holds zeroes when this throws.
  @inline(__always)
  func open(
    nonce: UnsafeRawPointer, associatedData: UnsafeRawBufferPointer,
    ciphertext: UnsafeRawBufferPointer, tag: UnsafeRawPointer,
    into output: UnsafeMutableRawPointer
  ) throws(CryptoError) {
    do throws(CryptoError) {
      let bytes = unsafe output.assumingMemoryBound(to: UInt8.self)
      var written: Int32 = 0
      // The provider copies the tag out of its parameter, and only reads it.
      let result = unsafe Self.withTag(UnsafeMutableRawPointer(mutating: tag)) { parameters in
        unsafe EVP_DecryptInit_ex2(
          context, nil, nil, nonce.assumingMemoryBound(to: UInt8.self), parameters)
      }
      guard result == 1 else { throw CryptoError(library: "EVP_DecryptInit_ex2") }
      try unsafe update(EVP_DecryptUpdate, associatedData, into: nil, written: &written)
      try unsafe update(EVP_DecryptUpdate, ciphertext, into: bytes, written: &written)
      var rest: Int32 = 0
      // EVP_DecryptFinal_ex(3): fails when the tag does not match.
      guard unsafe EVP_DecryptFinal_ex(context, bytes + ciphertext.count, &rest) == 1 else {
        throw CryptoError(library: "the tag does not match", code: .authenticationFailed)
      }
    } catch {
      unsafe Wipe.buffer(.init(start: output, count: ciphertext.count))
      throw error
    }
  }

  /// Lends the parameters that read or give the 16 bytes of the tag: what EVP_CTRL_AEAD_GET_TAG and
  /// EVP_CTRL_AEAD_SET_TAG make of their arguments, without the way there.
  @inline(__always)
  private static func withTag(
    _ tag: UnsafeMutableRawPointer, _ body: (UnsafeMutablePointer<OSSL_PARAM>) -> Int32
  ) -> Int32 {
    let name: StaticString = "tag"  // OSSL_CIPHER_PARAM_AEAD_TAG
    var parameters = unsafe (
      OSSL_PARAM(
        key: UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self),
        data_type: UInt32(OSSL_PARAM_OCTET_STRING), data: tag, data_size: AEADAlgorithm.tagSize,
        return_size: 0),
      OSSL_PARAM()  // the end
    )
    return unsafe withUnsafeMutableBytes(of: &parameters) { bytes in
      unsafe body(bytes.baseAddress!.assumingMemoryBound(to: OSSL_PARAM.self))
    }
  }

  /// Feeds associated data (`output` nil) or text.
  @inline(__always)
  private func update(
    _ function: (
      OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int32>?,
      UnsafePointer<UInt8>?, Int32
    ) -> Int32,
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutablePointer<UInt8>?,
    written: inout Int32
  ) throws(CryptoError) {
    guard let start = input.baseAddress, unsafe !input.isEmpty else { return }
    // EVP_EncryptUpdate(3) counts in int; callers have checked the length against it.
    guard
      unsafe function(
        context, output, &written, start.assumingMemoryBound(to: UInt8.self),
        Int32(truncatingIfNeeded: input.count)) == 1,
      Int(written) == input.count
    else { throw CryptoError(library: "EVP_EncryptUpdate or EVP_DecryptUpdate") }
  }
}
