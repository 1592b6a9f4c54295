/// The names of attributes, as other programs write them.
enum AttributeName {
  static let schema = "xdg:schema"
  static let service = "service"
  static let account = "account"
  /// What Python's keyring calls the account.
  static let username = "username"
  /// What gnome-keyring's schema of network passwords calls the account.
  static let user = "user"
  static let server = "server"
  static let port = "port"
  /// The path on the server.
  static let object = "object"
  static let `protocol` = "protocol"
  static let domain = "domain"
  static let authenticationType = "authtype"
  static let comment = "comment"
  static let description = "description"
  static let creator = "creator"
  static let application = "application"
  /// The name of a `SecureItem`.
  static let item = "item"
  /// What the secret is sealed with: docs/keyring.md, "The sealed form".
  static let sealed = "sps:sealed"

  /// The attributes that KeePassXC adds to every item.
  static let added: Set<String> = ["Title", "UserName", "URL", "Notes", "Uuid", "Path"]
  /// The attribute that KeePassXC adds to an item whose secret is no text.
  static let contentType = "FDO_SECRETS_CONTENT_TYPE"
  /// The added attributes that KeePassXC does not let programs change.
  static let readOnly: Set<String> = ["Uuid", "Path"]
}

/// The kinds of items, for programs that list the keyring.
enum SchemaName {
  static let generic = "org.freedesktop.Secret.Generic"
  static let network = "org.gnome.keyring.NetworkPassword"
  /// The prefix of the schemas of sealed stores and of keys.
  static let stores = "SecurePropertyStorage."
}

extension [String: String] {
  /// These attributes without those that the service adds by itself.
  ///
  /// KeePassXC adds all of them to every item: an item without one of them is not KeePassXC's, and
  /// all of its attributes come from a program.
  var withoutAdded: [String: String] {
    guard isOfKeePassXC else { return self }
    return filter { !AttributeName.added.contains($0.key) && $0.key != AttributeName.contentType }
  }

  /// These attributes without those that the service does not let programs change.
  var withoutReadOnly: [String: String] {
    isOfKeePassXC ? filter { !AttributeName.readOnly.contains($0.key) } : self
  }

  /// Whether the item is KeePassXC's.
  var isOfKeePassXC: Bool { AttributeName.added.allSatisfy { self[$0] != nil } }

  /// Whether both have the same bytes: to the bus, two Unicode forms of a character differ.
  func isExactly(_ other: [String: String]) -> Bool {
    func bytes(_ attributes: [String: String]) -> [[UInt8]: [UInt8]] {
      [[UInt8]: [UInt8]](
        attributes.map { (Array($0.utf8), Array($1.utf8)) }, uniquingKeysWith: { first, _ in first }
      )
    }
    return bytes(self) == bytes(other)
  }

  /// These attributes without the schema that gnome-keyring adds, sooner or later, to items without
  /// one.
  var withoutGenericSchema: [String: String] {
    filter { $0.key != AttributeName.schema || $0.value != SchemaName.generic }
  }
}
