public import CryptoCore

/// The result of a key source: a key, or a passphrase from which a key is derived.
public enum KeyMaterial: Sendable {
  /// A key of 32 random bytes.
  case key(SymmetricKey)
  /// A passphrase, stretched by a ``PassphraseDerivation``.
  case passphrase(SecureBytes)
}

extension KeyMaterial {
  /// The material itself, after a check of its size.
  ///
  /// - Throws: `invalid` for a key of another size than 256 bits and for an empty passphrase.
  func checked() throws(StorageError) -> KeyMaterial {
    switch self {
    case .key(let key) where key.bitCount != 256:
      throw StorageError(
        .invalid, "a store's key must have 256 bits, but this key has \(key.bitCount)")
    case .passphrase(let bytes) where bytes.count == 0:
      throw StorageError(.invalid, "a passphrase can't be empty")
    default: return self
    }
  }
}

extension KeyMaterial: RedactedDescription {
  /// The kind of material, and no byte of it.
  public var description: String {
    switch self {
    case .key: "KeyMaterial(key)"
    case .passphrase: "KeyMaterial(passphrase)"
    }
  }
}

extension KeyMaterial {
  /// All forms of the same material: for a passphrase, also the keys that its text encodes; for a
  /// key, also the passphrase that is the key's text.
  var readings: [KeyMaterial] {
    get throws(StorageError) {
      switch self {
      case .key(let key): [self, .passphrase(try KeyEncoding.line(of: key))]
      case .passphrase(let passphrase): [self] + (try Self.keys(inTextOf: passphrase))
      }
    }
  }

  private static func keys(
    inTextOf passphrase: SecureBytes
  ) throws(StorageError) -> [KeyMaterial] {
    var keys: [KeyMaterial] = []
    let text = try KeyEncoding.material(of: passphrase, path: nil, source: "it", isText: true)
    if case .key = text { keys.append(text) }
    let string = passphrase.withBytes { span in
      unsafe span.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
    }
    do throws(StorageError) {
      if let string { keys.append(.key(try RecoveryKey(text: string).key)) }
    } catch {
      guard error.code == .invalid else { throw error }
    }
    return keys
  }
}

/// The text form of a key in files, environment variables and credentials: standard Base64 of its
/// 32 bytes, 44 characters with the padding, as `openssl rand -base64 32` prints it.
package enum KeyEncoding {
  private static let keySize = 32
  private static let encodedSize = 44
  private static let alphabet: [UInt8] = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The material that `bytes` hold: a key as it is or in its text form, or anything else as a
  /// passphrase.
  ///
  /// Exactly 32 bytes of a file are a key, unless all of them are printable: one random key in 10^14
  /// is, and a passphrase that is taken for a key would not be stretched. Of a text, one line break at
  /// the end is ignored.
  ///
  /// - Parameters:
  ///   - bytes: the content of the file, variable or credential.
  ///   - path: the file, for errors.
  ///   - source: names the file, variable or credential in errors.
  ///   - isText: whether the bytes are a text for certain, as those of a variable are.
  /// - Returns: the material.
  /// - Throws: `damaged` when the content is empty.
  package static func material(
    of bytes: SecureBytes, path: String?, source: String, isText: Bool = false
  ) throws(StorageError) -> KeyMaterial {
    if !isText, bytes.count == keySize, !isPrintable(bytes) {
      return .key(SymmetricKey(bytes: bytes))
    }
    let count = bytes.withBytes { span in
      let last = span.byteCount - 1
      guard last >= 0 else { return 0 }
      let byte = unsafe span.unsafeLoad(fromByteOffset: last, as: UInt8.self)
      return byte == UInt8(ascii: "\n") ? last : span.byteCount
    }
    guard count > 0 else {
      throw StorageError(
        .damaged,
        "\(source) exists but is empty. Put the key back from a backup. Only if you no longer need what "
          + "was sealed with it, remove it", path: path)
    }
    if let key = try cryptography({ () throws(CryptoError) in try decode(bytes, count: count) }) {
      return .key(key)
    }
    return .passphrase(try prefix(count, of: bytes))
  }

  /// Whether all bytes are printable ASCII, with a line break at the end or not.
  private static func isPrintable(_ bytes: SecureBytes) -> Bool {
    bytes.withBytes { span in
      unsafe span.withUnsafeBytes { bytes in
        let last = bytes.count - 1
        return unsafe bytes.enumerated().allSatisfy { index, byte in
          (0x20...0x7E).contains(byte) || index == last && byte == UInt8(ascii: "\n")
        }
      }
    }
  }

  /// The text form of a key, without a line break.
  static func line(of key: SymmetricKey) throws(StorageError) -> SecureBytes {
    try prefix(encodedSize, of: encode(key))
  }

  /// A copy of the first bytes.
  static func prefix(
    _ count: Int, of bytes: SecureBytes
  ) throws(StorageError) -> SecureBytes {
    try cryptography { () throws(CryptoError) in
      try bytes.withBytes { (span) throws(CryptoError) in
        try SecureBytes(copying: span.extracting(first: count))
      }
    }
  }

  /// The text form of a key, with a line break.
  package static func encode(_ key: SymmetricKey) throws(StorageError) -> SecureBytes {
    try cryptography { () throws(CryptoError) in
      try SecureBytes(count: encodedSize + 1) { (output) throws(CryptoError) in
        key.withBytes { bytes in
          for group in 0..<11 {
            var word: UInt32 = 0
            for index in 0..<3 {
              let offset = group * 3 + index
              let byte =
                offset < 32 ? unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) : 0
              word = word << 8 | UInt32(byte)
            }
            for index in 0..<4 {
              let digit = alphabet[Int(word >> UInt32(18 - 6 * index) & 63)]
              output.storeBytes(of: digit, toByteOffset: group * 4 + index, as: UInt8.self)
            }
          }
        }
        output.storeBytes(of: UInt8(ascii: "="), toByteOffset: 43, as: UInt8.self)
        output.storeBytes(of: UInt8(ascii: "\n"), toByteOffset: 44, as: UInt8.self)
      }
    }
  }

  /// The key that a text encodes, or nil when the text does not have the one legal form.
  private static func decode(
    _ text: SecureBytes, count: Int
  ) throws(CryptoError) -> SymmetricKey? {
    guard count == encodedSize else { return nil }
    var isValid = true
    let key = try SecureBytes(count: 32) { (output) throws(CryptoError) in
      text.withBytes { span in
        var word: UInt32 = 0
        for index in 0..<encodedSize {
          let character = unsafe span.unsafeLoad(fromByteOffset: index, as: UInt8.self)
          let digit = index == 43 ? (character == UInt8(ascii: "=") ? 0 : nil) : value(character)
          guard let digit else {
            isValid = false
            return
          }
          word = word << 6 | UInt32(digit)
          guard index % 4 == 3 else { continue }
          let offset = index / 4 * 3
          output.storeBytes(of: UInt8(word >> 16 & 255), toByteOffset: offset, as: UInt8.self)
          output.storeBytes(of: UInt8(word >> 8 & 255), toByteOffset: offset + 1, as: UInt8.self)
          if offset + 2 < 32 {
            output.storeBytes(of: UInt8(word & 255), toByteOffset: offset + 2, as: UInt8.self)
          } else if word & 255 != 0 {
            isValid = false  // one legal form: unused bits are zero
          }
          word = 0
        }
      }
    }
    return isValid ? SymmetricKey(bytes: key) : nil
  }

  private static func value(_ character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
