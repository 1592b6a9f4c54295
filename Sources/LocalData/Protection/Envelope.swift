package import CryptoCore
package import StorageCore

package import struct FoundationEssentials.Data

/// The stored form of a value that is not plain: how it was serialized and sealed, and its bytes.
///
/// docs/localdata.md has the format.
package struct Envelope: Sendable {
  /// Where the key of a sealed value comes from.
  package enum Origin: UInt8, Sendable {
    /// The envelope is not sealed, since the place seals it.
    case none = 0
    /// The master key or, in a group's folder, the group's key.
    case masterKey = 1
    case provider = 2
    case passcode = 3
  }

  /// How the key of a value is derived.
  package enum Function: UInt8, Sendable {
    case hkdfSHA256 = 1
    case pbkdf2SHA256 = 2
    case scrypt = 3
  }

  /// How a value is sealed: everything that determines its key, except the material.
  package struct Sealing: Hashable, Sendable {
    package var origin: Origin
    package var algorithm: AEADAlgorithm
    package var function: Function
    /// The iterations of PBKDF2; 0 for the others.
    package var rounds: UInt32
    package var salt: [UInt8]
    package var info: [UInt8]
    /// The id of the provider's source; empty for the others.
    package var source: String
  }

  package let serializer: Serializer.Form
  /// Nil for a value that is not sealed.
  package let sealing: Sealing?
  /// The check value that identifies the key; empty for a value that is not sealed.
  package let check: [UInt8]
  /// The head as it is stored, which is authenticated with a sealed value.
  package let head: [UInt8]
  /// The serialized value, or the record that seals it.
  package let body: Data

  private static let magic: [UInt8] = Array("SPLD".utf8)
  /// The first bytes of every envelope.
  static var mark: [UInt8] { magic }
  private static let version: UInt8 = 1
  package static let checkSize = 16
  private static let roundLimit: UInt32 = 10_000_000

  /// The head of a value.
  static func head(
    _ serializer: Serializer.Form, _ sealing: Sealing? = nil, check: [UInt8] = []
  ) -> [UInt8] {
    var bytes = magic + [version, serializer.rawValue, (sealing?.origin ?? .none).rawValue]
    guard let sealing else { return bytes }
    bytes += [sealing.algorithm.rawValue, sealing.function.rawValue]
    bytes.append(bigEndian: sealing.rounds)
    for field in [sealing.salt, sealing.info, Array(sealing.source.utf8)] {
      bytes.append(UInt8(field.count))
      bytes += field
    }
    return bytes + check
  }

  /// Reads stored bytes.
  ///
  /// - Throws: `damaged` if the bytes are not an envelope, `unsupported` for an envelope of another
  ///   version.
  package init(reading data: Data) throws(StorageError) {
    let bytes = Array(data)
    let span = unsafe bytes.span.bytes
    var offset = 0
    guard try ByteReading.array(of: 4, span, at: &offset) == Self.magic else {
      throw Self.damaged
    }
    let version = try ByteReading.integer(span, at: &offset, as: UInt8.self)
    guard version == Self.version else {
      throw StorageError(
        .unsupported,
        "this release can't read a value of version \(version); read it with the program that wrote it"
      )
    }
    guard
      let serializer = Serializer.Form(rawValue: try ByteReading.integer(span, at: &offset)),
      let origin = Origin(rawValue: try ByteReading.integer(span, at: &offset))
    else { throw Self.damaged }
    self.serializer = serializer
    if origin == .none {
      (sealing, check) = (nil, [])
    } else {
      sealing = try Self.sealing(of: origin, span, at: &offset)
      check = try ByteReading.array(of: Self.checkSize, span, at: &offset)
    }
    head = Array(bytes[..<offset])
    body = Data(bytes[offset...])
  }

  private static func sealing(
    of origin: Origin, _ span: RawSpan, at offset: inout Int
  ) throws(StorageError) -> Sealing {
    guard
      let algorithm = AEADAlgorithm(code: try ByteReading.integer(span, at: &offset)),
      let function = Function(rawValue: try ByteReading.integer(span, at: &offset))
    else { throw damaged }
    let rounds: UInt32 = try ByteReading.integer(span, at: &offset)
    // A hostile file must not demand a year of work.
    let isPossible = function == .pbkdf2SHA256 ? (1...roundLimit).contains(rounds) : rounds == 0
    guard isPossible, (function == .scrypt) == (origin == .passcode) else { throw damaged }
    let salt = try field(span, at: &offset)
    let info = try field(span, at: &offset)
    guard let source = String(validating: try field(span, at: &offset), as: UTF8.self),
      source.isEmpty == (origin != .provider)
    else { throw damaged }
    return Sealing(
      origin: origin, algorithm: algorithm, function: function, rounds: rounds, salt: salt,
      info: info, source: source)
  }

  private static func field(
    _ span: RawSpan, at offset: inout Int
  ) throws(StorageError) -> [UInt8] {
    let count = Int(try ByteReading.integer(span, at: &offset, as: UInt8.self))
    return try ByteReading.array(of: count, span, at: &offset)
  }

  private static let damaged = StorageError(
    .damaged,
    "the stored bytes do not match the key's policy: they were altered, or written as plain data. They were "
      + "not changed; restore them from a backup, or remove the key")
}
