internal import CryptoCore
internal import StorageCore

/// The random 16 bytes that identify a blob and name its file.
struct BlobID: Hashable, Sendable {
  static let byteCount = 16

  let bytes: [UInt8]

  init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
  }

  /// The id in a file's name, or nil for a name that is no blob's.
  init?(fileName name: String) {
    let digits = Array(name.utf8)
    guard digits.count == 2 * Self.byteCount else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = Self.value(digits[index]), let low = Self.value(digits[index + 1]) else {
        return nil
      }
      bytes.append(high << 4 | low)
    }
    self.bytes = bytes
  }

  static func random() throws(StorageError) -> BlobID {
    try cryptography { () throws(CryptoError) in
      BlobID(try SecureRandom.publicBytes(count: byteCount))!
    }
  }

  /// 32 hexadecimal digits in lower case.
  var fileName: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
