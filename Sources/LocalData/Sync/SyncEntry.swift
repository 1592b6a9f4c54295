internal import CryptoCore
internal import StorageCore

internal import struct FoundationEssentials.Data

/// The entry of a key in the shared store: a version, and the serialized value or a removal.
///
/// The bytes are "SPSY", a format version, 0 for readable or 1 for sealed, and the content: 0 for a
/// value or 1 for a removal, the serializer's number, the version in eight bytes (big-endian), the
/// serialized value. Sealed content is an ``Envelope``, bound to the domain and the name of the
/// key, and to the shared store.
struct SyncEntry: Equatable, Sendable {
  /// The number of writes of the key, counted from 1.
  var version: UInt64
  /// The serialized value; nil after a removal.
  var value: Data?

  private static let magic: [UInt8] = Array("SPSY".utf8)
  private static let format: UInt8 = 1
  /// The largest entry in bytes: a value must fit into memory.
  static let sizeLimit = 1 << 28

  /// The bytes before the content.
  static func head(isSealed: Bool) -> Data { Data(magic + [format, isSealed ? 1 : 0]) }

  /// The content before sealing.
  func content(_ serializer: Serializer.Form) -> Data {
    var bytes: [UInt8] = [value == nil ? 1 : 0, serializer.rawValue]
    bytes.append(bigEndian: version)
    return Data(bytes) + (value ?? Data())
  }

  /// The bytes after the head of an entry.
  ///
  /// - Throws: `damaged` if the bytes are not an entry, or are not sealed as the key declares;
  ///   `unsupported` for an entry of another version.
  static func body(of bytes: Data, isSealed: Bool) throws(StorageError) -> Data {
    guard bytes.count <= sizeLimit, bytes.starts(with: magic), bytes.count >= 6 else {
      throw damaged
    }
    let start = bytes.startIndex
    guard bytes[start + 4] == format else {
      throw StorageError(
        .unsupported,
        "this release can't read a shared entry of version \(bytes[start + 4]); update the program that is "
          + "older")
    }
    guard bytes[start + 5] == (isSealed ? 1 : 0) else { throw damaged }
    return Data(bytes.dropFirst(6))
  }

  /// Reads content.
  ///
  /// - Throws: `damaged` for malformed content, `typeMismatch` for the content of another
  ///   serializer.
  init(content: Data, _ serializer: Serializer.Form) throws(StorageError) {
    let bytes = Array(content.prefix(10))
    guard bytes.count == 10, bytes[0] <= 1 else { throw Self.damaged }
    guard bytes[1] == serializer.rawValue else {
      throw StorageError(
        .typeMismatch,
        "the shared entry has another serializer than the key declares; nothing was changed here"
      )
    }
    version = bytes[2...].reduce(0) { $0 << 8 | UInt64($1) }
    guard version > 0, bytes[0] == 0 || content.count == 10 else { throw Self.damaged }
    value = bytes[0] == 1 ? nil : Data(content.dropFirst(10))
  }

  init(version: UInt64, value: Data?) { (self.version, self.value) = (version, value) }

  static let damaged = StorageError(
    .damaged,
    "the key's entry in the shared store does not match its policy: it was altered, or another "
      + "program wrote it. Nothing was changed here; remove the shared entry, then sync again")
}
