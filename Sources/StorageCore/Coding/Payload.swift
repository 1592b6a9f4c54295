internal import CryptoCore

/// The plaintext of a record: docs/file-format.md, section "Payload".
@usableFromInline
enum Payload: Sendable {
  static let version: UInt8 = 1
  /// How many bytes are reserved behind the name, so that most values fit.
  private static let room = 64
  /// The longest key name, in UTF-8 bytes.
  static let nameLimit = 1024
  /// The longest value, in bytes as encoded.
  static let valueLimit = 1 << 28

  /// The start of a payload: all bytes before the value.
  static func head(name: String) throws(StorageError) -> [UInt8] {
    try check(name: name)
    let count = name.utf8.count
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + room)
    bytes.append(version)
    bytes.append(bigEndian: UInt16(count))
    bytes.append(utf8Of: name)
    return bytes
  }

  /// Throws `invalid` for a name that is empty or too long.
  static func check(name: String) throws(StorageError) {
    let count = name.utf8.count
    guard count > 0 else { throw StorageError(.invalid, "a key name can't be empty") }
    guard count <= nameLimit else {
      throw StorageError(
        .invalid, "a key name can have at most \(nameLimit) bytes, but this name has \(count)")
    }
  }

  /// The offset of the value in a payload.
  @usableFromInline
  static func valueOffset(_ bytes: RawSpan) throws(StorageError) -> Int {
    var offset = 0
    _ = try nameRange(bytes, at: &offset)
    return offset
  }

  /// The error for bytes behind a value.
  @usableFromInline
  static var tooLong: StorageError {
    StorageError(.damaged, "the record has bytes after the end of the value")
  }

  /// The key name of a payload.
  static func name(_ bytes: RawSpan) throws(StorageError) -> String {
    var offset = 0
    let name = bytes.extracting(try nameRange(bytes, at: &offset)).copied()
    guard let text = String(validating: name, as: UTF8.self) else {
      throw StorageError(.damaged, "the name of the record is not text")
    }
    return text
  }

  private static func nameRange(
    _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> Range<Int> {
    let version = try ByteReading.integer(bytes, at: &offset, as: UInt8.self)
    guard version == Self.version else {
      throw StorageError(
        .unsupported, "this release can't read payload version \(version); update the program")
    }
    let count = Int(try ByteReading.integer(bytes, at: &offset, as: UInt16.self))
    guard (1...nameLimit).contains(count) else {
      throw StorageError(.damaged, "the name of the record has an impossible length")
    }
    return try ByteReading.range(of: count, bytes, at: &offset)
  }
}
