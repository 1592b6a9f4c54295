internal import CryptoCore
internal import StorageCore

/// The form of a store's records and header as items of the keyring: docs/file-format.md,
/// "Keyring".
struct SealedItem {
  /// The kind of item, for programs that list the keyring.
  static let schema = "SecurePropertyStorage.Sealed"
  static let contentType = "application/octet-stream"
  private static let headerName = "header"

  /// The service whose store it is.
  let service: String

  /// The attributes of all items of the store.
  var storeAttributes: [String: String] { ["xdg:schema": Self.schema, "service": service] }

  /// The attributes of the header.
  var headerAttributes: [String: String] { attributes(of: Self.headerName) }

  /// The attributes of a name's record.
  func attributes(of name: NameHash) -> [String: String] { attributes(of: name.hexadecimal) }

  /// Whether these may be the attributes of a record or of the header, and not of a foreign item.
  static func isRecord(_ attributes: [String: String]) -> Bool {
    guard let record = attributes["record"] else { return false }
    return record == headerName || NameHash(hexadecimal: record) != nil
  }

  private func attributes(of record: String) -> [String: String] {
    var attributes = storeAttributes
    attributes["record"] = record
    return attributes
  }

  /// The label that a keyring program shows; KWallet refuses an empty one.
  var label: String { "\(service) (sealed)" }

  /// The secret of a record contains the name as well, so that listing names takes as few calls as
  /// listing secrets.
  static func secret(_ record: [UInt8], of name: NameHash) -> [UInt8] { name.bytes + record }

  /// The secret of the header.
  static func secret(header: [UInt8]) -> [UInt8] { headerMark.bytes + header }

  /// Takes the place of a name in the header's secret.
  private static let headerMark = NameHash([UInt8](repeating: 0, count: NameHash.byteCount))!

  /// The content of a secret.
  enum Content {
    case header([UInt8])
    case record([UInt8], NameHash)
    /// No bytes at all, as KWallet returns for items of a locked wallet.
    case nothing
    /// Bytes that no store has written.
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
