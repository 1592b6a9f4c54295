internal import COpenSSL

/// A key ready to seal and open with one algorithm.
///
/// Any thread may use it, many at once.
final class AEADKey: Sendable {
  let algorithm: AEADAlgorithm
  private let sealing: ContextPool<CipherContext>
  private let opening: ContextPool<CipherContext>
  private let extended: ExtendedNonceKey?

  /// - Throws: ``CryptoError/Code/invalidParameter`` unless the key has 32 bytes.
  init(_ key: SymmetricKey, algorithm: AEADAlgorithm) throws(CryptoError) {
    guard key.bitCount == AEADAlgorithm.keySize * 8 else {
      throw CryptoError(
        .invalidParameter, "\(algorithm) takes a key of 256 bits, this one has \(key.bitCount)")
    }
    self.algorithm = algorithm
    // XAES sets a derived key for every message; the others keep theirs.
    let derives = algorithm == .xaes256GCM
    extended = derives ? try ExtendedNonceKey(key) : nil
    let cipher: CipherImplementation =
      algorithm == .chaCha20Poly1305 ? .chaCha20Poly1305 : .aes256GCM
    func pool(encrypts: Bool) -> ContextPool<CipherContext> {
      ContextPool { () throws(CryptoError) in
        let context = try CipherContext(cipher, encrypts: encrypts)
        if !derives {
          try key.withBytes { (bytes) throws(CryptoError) in
            try unsafe bytes.withUnsafeBytes { (raw) throws(CryptoError) in
              try unsafe context.setKey(raw.baseAddress!)
            }
          }
        }
        return context
      }
    }
    sealing = pool(encrypts: true)
    opening = pool(encrypts: false)
  }

  /// Seals; `output` has `plaintext.count + 16` bytes.
  @inline(__always)
  func seal(
    nonce: UnsafeRawPointer, associatedData: UnsafeRawBufferPointer,
    plaintext: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer
  ) throws(CryptoError) {
    try requireLength(plaintext.count, associatedData.count)
    try sealing.with { (context) throws(CryptoError) in
      let nonce = unsafe try prepare(context, nonce)
      try unsafe context.seal(
        nonce: nonce, associatedData: associatedData, plaintext: plaintext, into: output)
    }
  }

  /// Opens; `output` has `ciphertext.count` bytes, all zero when this throws.
  @inline(__always)
  func open(
    nonce: UnsafeRawPointer, associatedData: UnsafeRawBufferPointer,
    ciphertext: UnsafeRawBufferPointer, tag: UnsafeRawPointer,
    into output: UnsafeMutableRawPointer
  ) throws(CryptoError) {
    try requireLength(ciphertext.count, associatedData.count)
    try opening.with { (context) throws(CryptoError) in
      let nonce = unsafe try prepare(context, nonce)
      try unsafe context.open(
        nonce: nonce, associatedData: associatedData, ciphertext: ciphertext, tag: tag,
        into: output)
    }
  }

  /// Gives `context` the key for this nonce, and returns the 12 bytes that remain of it.
  @inline(__always)
  private func prepare(
    _ context: borrowing CipherContext, _ nonce: UnsafeRawPointer
  ) throws(CryptoError) -> UnsafeRawPointer {
    guard let extended else { return unsafe nonce }
    try unsafe extended.setDerivedKey(of: context, nonce: nonce)
    return unsafe nonce + 12
  }

  @inline(__always)
  private func requireLength(_ text: Int, _ associatedData: Int) throws(CryptoError) {
    // EVP_CipherUpdate(3) counts in int.
    guard text <= Int(Int32.max) - 32, associatedData <= Int(Int32.max) - 32 else {
      throw CryptoError(.invalidParameter, "a message has at most 2^31 - 33 bytes")
    }
  }
}

/// The key schedule of XAES-256-GCM, as C2SP specifies it (c2sp.org/XAES-256-GCM).
private final class ExtendedNonceKey: Sendable {
  private let blocks: ContextPool<CipherContext>
  /// The CMAC subkey K1 of the specification, which depends on the key alone.
  private let subkey: SecureBytes

  init(_ key: SymmetricKey) throws(CryptoError) {
    let blocks = ContextPool<CipherContext> { () throws(CryptoError) in
      let context = try CipherContext(.aes256ECB, encrypts: true)
      try context.omitPadding()
      try key.withBytes { (bytes) throws(CryptoError) in
        try unsafe bytes.withUnsafeBytes { (raw) throws(CryptoError) in
          try unsafe context.setKey(raw.baseAddress!)
        }
      }
      return context
    }
    subkey = try SecureBytes(count: 16) { (span) throws(CryptoError) in
      try unsafe span.withUnsafeMutableBytes { (output) throws(CryptoError) in
        let start = output.baseAddress!
        // L = AES-256(K, 0): the bytes are zero at the start.
        try blocks.with { (context) throws(CryptoError) in
          try unsafe context.encryptBlocks(start, count: 16, into: start)
        }
        // K1 = L << 1, and the field polynomial when a bit falls out.
        let carry = unsafe output[0] >> 7
        for index in 0..<15 {
          unsafe output[index] = output[index] << 1 | output[index + 1] >> 7
        }
        unsafe output[15] = output[15] << 1 ^ (0x87 & (0 &- carry))
      }
    }
    self.blocks = blocks
  }

  /// Derives the key of the first 12 bytes of `nonce` and expands it in `context`.
  func setDerivedKey(
    of context: borrowing CipherContext, nonce: UnsafeRawPointer
  ) throws(CryptoError) {
    try unsafe withUnsafeTemporaryAllocation(byteCount: 32, alignment: 16) {
      (derived) throws(CryptoError) in
      defer { unsafe Wipe.buffer(derived) }
      let start = derived.baseAddress!
      // M1 = 0x00 || 0x01 || 'X' || 0x00 || N[:12], M2 the same with 0x02.
      for block in 0..<2 {
        let message = unsafe start + block * 16
        unsafe message.storeBytes(of: 0, as: UInt8.self)
        unsafe message.storeBytes(of: UInt8(block + 1), toByteOffset: 1, as: UInt8.self)
        unsafe message.storeBytes(of: UInt8(ascii: "X"), toByteOffset: 2, as: UInt8.self)
        unsafe message.storeBytes(of: 0, toByteOffset: 3, as: UInt8.self)
        unsafe (message + 4).copyMemory(from: nonce, byteCount: 12)
      }
      subkey.withBytes { subkey in
        for index in 0..<32 {
          unsafe derived[index] ^= subkey.unsafeLoad(fromByteOffset: index % 16, as: UInt8.self)
        }
      }
      try blocks.with { (ecb) throws(CryptoError) in
        try unsafe ecb.encryptBlocks(start, count: 32, into: start)
      }
      try unsafe context.setKey(start)
    }
  }
}
