internal import COpenSSL

/// The EVP ciphers, fetched once: an implicit fetch on every use costs half a microsecond.
@safe
struct CipherImplementation: @unchecked Sendable {
  // An EVP_CIPHER is immutable and counted; this one lives as long as the process.
  let pointer: OpaquePointer
  /// Whether a context for opening accepts its nonce as a parameter: see `CipherContext.begin`.
  let takesNonceAsParameter: Bool

  /// Whether the cipher leaves key bytes in registers and on the stack.
  let leavesKeyBehind: Bool

  private init(fetching name: String, leavesKeyBehind: Bool = false) {
    OpenSSLLibrary.prepare()
    guard let pointer = unsafe EVP_CIPHER_fetch(nil, name, nil) else {
      fatalError("OpenSSL's default provider has no \(name)")  // a broken installation
    }
    unsafe self.pointer = pointer
    self.leavesKeyBehind = leavesKeyBehind
    takesNonceAsParameter = unsafe Self.takesNonceAsParameter(pointer)
  }

  /// True only for OpenSSL's own providers: another provider may list the parameter but treat it
  /// differently.
  private static func takesNonceAsParameter(_ cipher: OpaquePointer) -> Bool {
    guard let provider = unsafe EVP_CIPHER_get0_provider(cipher),
      let name = unsafe OSSL_PROVIDER_get0_name(provider),
      unsafe ["default", "fips"].contains(SystemText.shown(name)),
      let settable = unsafe EVP_CIPHER_settable_ctx_params(cipher)
    else { return false }
    return unsafe OSSL_PARAM_locate_const(settable, ParameterName.nonce.characters) != nil
  }

  static let aes256GCM = CipherImplementation(fetching: "AES-256-GCM")
  static let chaCha20Poly1305 = CipherImplementation(
    fetching: "ChaCha20-Poly1305", leavesKeyBehind: true)
  static let aes256ECB = CipherImplementation(fetching: "AES-256-ECB")
}

/// Names of parameters, from EVP_EncryptInit(3).
@safe
private enum ParameterName {
  static let tag: StaticString = "tag"  // OSSL_CIPHER_PARAM_AEAD_TAG
  static let fixedNonce: StaticString = "tlsivfixed"  // OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED
  static let nonce: StaticString = "tlsivinv"  // OSSL_CIPHER_PARAM_AEAD_TLS1_SET_IV_INV
}

extension StaticString {
  fileprivate var characters: UnsafePointer<CChar> {
    unsafe UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
  }
}

/// One EVP_CIPHER_CTX that keeps its expanded key between messages.
///
/// Used by one thread at a time.
///
/// The context lives in OpenSSL's ordinary heap and is cleansed when freed.
@safe
struct CipherContext: ~Copyable {
  private let context: OpaquePointer
  private let takesNonceAsParameter: Bool
  private let leavesKeyBehind: Bool

  init(_ cipher: CipherImplementation, encrypts: Bool) throws(CryptoError) {
    let takesNonceAsParameter = !encrypts && cipher.takesNonceAsParameter
    guard let context = unsafe EVP_CIPHER_CTX_new() else {
      throw CryptoError(library: "EVP_CIPHER_CTX_new", code: .outOfMemory)
    }
    var result = unsafe EVP_CipherInit_ex2(
      context, cipher.pointer, nil, nil, encrypts ? 1 : 0, nil)
    if result == 1, takesNonceAsParameter { result = unsafe Self.fixNonce(of: context) }
    guard result == 1 else {
      unsafe EVP_CIPHER_CTX_free(context)
      throw CryptoError(library: "EVP_CipherInit_ex2")
    }
    unsafe self.context = context
    self.takesNonceAsParameter = takesNonceAsParameter
    leavesKeyBehind = cipher.leavesKeyBehind
  }

  /// Sets the four fixed bytes of the nonce; OpenSSL accepts the parameter of the whole nonce only
  /// afterwards.
  private static func fixNonce(of context: OpaquePointer) -> Int32 {
    var fixed: UInt32 = 0
    return unsafe withUnsafeMutableBytes(of: &fixed) { bytes in
      unsafe withParameters(
        octets(ParameterName.fixedNonce, bytes.baseAddress!, 4), OSSL_PARAM()
      ) { unsafe EVP_CIPHER_CTX_set_params(context, $0) }
    }
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

  /// Turns padding off, so that ``encryptBlocks(_:count:into:)`` writes as many bytes as it reads.
  func omitPadding() throws(CryptoError) {
    try requireSuccess(unsafe EVP_CIPHER_CTX_set_padding(context, 0), "EVP_CIPHER_CTX_set_padding")
  }

  /// Encrypts whole blocks without chaining, for key derivation.
  func encryptBlocks(
    _ input: UnsafeRawPointer, count: Int32, into output: UnsafeMutableRawPointer
  ) throws(CryptoError) {
    var written: Int32 = 0
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
    defer { if leavesKeyBehind { sps_clear_after_chacha20() } }
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
    // The same as EVP_CTRL_AEAD_GET_TAG, without the calls in between.
    let got = unsafe Self.withParameters(
      Self.octets(ParameterName.tag, tag, AEADAlgorithm.tagSize), OSSL_PARAM()
    ) { unsafe EVP_CIPHER_CTX_get_params(context, $0) }
    guard got == 1
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
    defer { if leavesKeyBehind { sps_clear_after_chacha20() } }
    do throws(CryptoError) {
      let bytes = unsafe output.assumingMemoryBound(to: UInt8.self)
      var written: Int32 = 0
      guard unsafe begin(nonce, tag) == 1 else {
        throw CryptoError(library: "EVP_DecryptInit_ex2 or EVP_CIPHER_CTX_set_params")
      }
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

  /// Begins to open a message: sets the nonce, which discards the last message, and the expected
  /// tag.
  ///
  /// EVP_DecryptInit_ex2(3) first asks the provider for the nonce's length by comparing names,
  /// which takes a fourth of the whole time. The parameter with which TLS sets the nonce of a
  /// record avoids that: EVP_EncryptInit(3), "tlsivinv". A context for sealing has no such
  /// parameter.
  @inline(__always)
  private func begin(_ nonce: UnsafeRawPointer, _ tag: UnsafeRawPointer) -> Int32 {
    // The provider only reads and copies nonce and tag.
    let expected = unsafe Self.octets(
      ParameterName.tag, UnsafeMutableRawPointer(mutating: tag), AEADAlgorithm.tagSize)
    guard takesNonceAsParameter else {
      return unsafe Self.withParameters(expected, OSSL_PARAM()) { parameters in
        unsafe EVP_DecryptInit_ex2(
          context, nil, nil, nonce.assumingMemoryBound(to: UInt8.self), parameters)
      }
    }
    let nonce = unsafe Self.octets(
      ParameterName.nonce, UnsafeMutableRawPointer(mutating: nonce), 12)
    return unsafe Self.withParameters(expected, nonce) { parameters in
      unsafe EVP_CIPHER_CTX_set_params(context, parameters)
    }
  }

  /// A parameter of bytes, as OSSL_PARAM_construct_octet_string(3) makes it.
  @inline(__always)
  private static func octets(
    _ name: StaticString, _ bytes: UnsafeMutableRawPointer, _ count: Int
  ) -> OSSL_PARAM {
    unsafe OSSL_PARAM(
      key: name.characters, data_type: UInt32(OSSL_PARAM_OCTET_STRING), data: bytes,
      data_size: count, return_size: 0)
  }

  /// Lends two parameters in a list with an end marker; the second parameter may itself be the end
  /// marker.
  @inline(__always)
  private static func withParameters(
    _ first: OSSL_PARAM, _ second: OSSL_PARAM,
    _ body: (UnsafeMutablePointer<OSSL_PARAM>) -> Int32
  ) -> Int32 {
    var parameters = unsafe (first, second, OSSL_PARAM())
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
    // EVP_EncryptUpdate(3) takes the length as int; callers have checked that the length fits.
    guard
      unsafe function(
        context, output, &written, start.assumingMemoryBound(to: UInt8.self),
        Int32(truncatingIfNeeded: input.count)) == 1,
      Int(written) == input.count
    else { throw CryptoError(library: "EVP_EncryptUpdate or EVP_DecryptUpdate") }
  }
}
