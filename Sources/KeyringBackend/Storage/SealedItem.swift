internal import CryptoCore
internal import StorageCore

/// How a store's records and its header are items of the keyring: docs/file-format.md, "Keyring".
struct SealedItem {
  /// What kind of item it is, for programs that list the keyring.
  static let schema = "SecurePropertyStorage.Sealed"
  static let contentType = "application/octet-stream"
  private static let headerName = "header"

  /// The service whose store it is.
  let service: String

  /// What all items of the store have.
  var storeAttributes: [String: String] { ["xdg:schema": Self.schema, "service": service] }

  /// What the header has.
  var headerAttributes: [String: String] { attributes(of: Self.headerName) }

  /// What the record of a name has.
  func attributes(of name: NameHash) -> [String: String] { attributes(of: name.hexadecimal) }

  /// Whether these may be the attributes of a record, or of the header, and not somebody's own.
  static func isRecord(_ attributes: [String: String]) -> Bool {
    guard let record = attributes["record"] else { return false }
    return record == headerName || NameHash(hexadecimal: record) != nil
  }

  private func attributes(of record: String) -> [String: String] {
    var attributes = storeAttributes
    attributes["record"] = record
    return attributes
  }

  /// What a keyring program shows; KWallet refuses an empty one.
  var label: String { "\(service) (sealed)" }

  /// The name is within the secret as well, so that names are listed by as few calls as secrets.
  static func secret(_ record: [UInt8], of name: NameHash) -> [UInt8] { name.bytes + record }

  /// The secret of the header.
  static func secret(header: [UInt8]) -> [UInt8] { headerMark.bytes + header }

  /// What takes the place of a name in the header's secret.
  private static let headerMark = NameHash([UInt8](repeating: 0, count: NameHash.byteCount))!

  /// What a secret holds.
  enum Content {
    case header([UInt8])
    case record([UInt8], NameHash)
    /// No bytes at all, which KWallet gives for items of a locked wallet.
    case nothing
    /// What no store has written.
    case foreign
  }

  /// Reads a secret.
  static func content(of secret: ReceivedSecret) -> Content {
    let bytes = secret.copied
    if bytes.isEmpty { return .nothing }
    guard let name = NameHash(bytes.prefix(NameHash.byteCount)) else { return .foreign }
    let rest = Array(bytes.dropFirst(NameHash.byteCount))
    return name == headerMark ? .header(rest) : .record(rest, name)
  }
}
