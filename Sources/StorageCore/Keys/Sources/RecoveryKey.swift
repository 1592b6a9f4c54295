public import CryptoCore

/// A key to write on paper, which opens its store when every other source is lost.
///
/// ``KeyAdministration/exportRecoveryKey()`` makes it. Anyone who has the recovery key can read the
/// store, so show it once and keep it away from the machine. Printing this value shows no key;
/// ``withText(_:)`` gives the text of the key.
public struct RecoveryKey: Sendable, Equatable {
  package let key: SymmetricKey

  private static let checkSize = 3
  private static let alphabet: [UInt8] = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

  package init(_ key: SymmetricKey) { self.key = key }

  /// Makes a fresh key, which opens nothing until ``KeyAdministration/add(_:)`` has made a slot for
  /// it.
  ///
  /// - Throws: `io` when OpenSSL has no random bytes.
  public static func random() throws(StorageError) -> RecoveryKey {
    RecoveryKey(try cryptography { () throws(CryptoError) in try .random() })
  }

  /// Reads a key from a text that ``withText(_:)`` gave.
  ///
  /// - Parameter text: 56 characters of Crockford's Base32; case, spaces and hyphens don't matter,
  ///   and `O`, `I`, `L` are read as `0`, `1`, `1`.
  /// - Throws: `invalid` when the text has another form or was mistyped; the last characters are a
  ///   checksum of the others.
  public init(text: String) throws(StorageError) {
    try self.init(characters: text.utf8)
  }

  /// Reads a key from a text in memory that is wiped.
  ///
  /// - Parameter text: the text, in UTF-8.
  /// - Throws: `invalid` when the text has another form or was mistyped.
  public init(text: SecureBytes) throws(StorageError) {
    var characters = text.withBytes { unsafe $0.withUnsafeBytes { unsafe [UInt8]($0) } }
    defer { Wipe.bytes(&characters) }
    try self.init(characters: characters)
  }

  private init(characters: some Collection<UInt8>) throws(StorageError) {
    var digits: [UInt8] = []
    defer { Wipe.bytes(&digits) }
    digits.reserveCapacity(56)
    for character in characters where character != UInt8(ascii: "-") && character > 32 {
      guard digits.count < 56, let digit = Self.digit(character) else { throw Self.mistyped }
      digits.append(digit)
    }
    var bytes: [UInt8] = []
    defer { Wipe.bytes(&bytes) }
    bytes.reserveCapacity(40)
    var word = 0
    var bits = 0
    for digit in digits {
      word = (word << 5 | Int(digit)) & 0xFFF
      bits += 5
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(word >> bits & 255))
      }
    }
    guard digits.count == 56, bytes.count == 32 + Self.checkSize else { throw Self.mistyped }
    let key = try cryptography { () throws(CryptoError) in try SecureBytes(bytes.prefix(32)) }
    guard try Self.check(of: key) == Array(bytes.suffix(Self.checkSize)) else {
      throw Self.mistyped
    }
    self.key = SymmetricKey(bytes: key)
  }

  /// Lends the text of the key, in groups of eight characters, for the user to write down.
  ///
  /// The string is ordinary memory and can't be wiped.
  ///
  /// - Throws: what `body` throws, or `io` when OpenSSL fails.
  public func withText<Result>(_ body: (String) throws -> Result) throws -> Result {
    var bytes = key.withBytes { unsafe $0.withUnsafeBytes { unsafe [UInt8]($0) } }
    defer { Wipe.bytes(&bytes) }
    bytes += try Self.check(of: key.bytes)
    var text = ""
    var word = 0
    var bits = 0
    for byte in bytes {
      word = (word << 8 | Int(byte)) & 0xFFFF
      bits += 8
      while bits >= 5 {
        bits -= 5
        text.append(Character(UnicodeScalar(Self.alphabet[word >> bits & 31])))
        if text.utf8.count % 9 == 8 { text.append("-") }
      }
    }
    if text.last == "-" { text.removeLast() }
    return try body(text)
  }

  private static func check(of key: SecureBytes) throws(StorageError) -> [UInt8] {
    let check = try cryptography { () throws(CryptoError) in
      try KeyDerivation.hkdf(key, salt: [], info: Label.recoveryCheck, count: 3)
    }
    return check.withBytes { unsafe $0.withUnsafeBytes { unsafe [UInt8]($0) } }
  }

  private static func digit(_ character: UInt8) -> UInt8? {
    let upper = character >= UInt8(ascii: "a") ? character & 0xDF : character
    switch upper {
    case UInt8(ascii: "O"): return 0
    case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
    default: return alphabet.firstIndex(of: upper).map { UInt8($0) }
    }
  }

  private static let mistyped = StorageError(
    .invalid, "this is not a recovery key; compare it with the paper, character by character")
}

extension RecoveryKey: RedactedDescription {}
