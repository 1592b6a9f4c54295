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
  /// By what the secret is sealed: docs/keyring.md, "The sealed form".
  static let sealed = "sps:sealed"

  /// What KeePassXC adds to every item.
  static let added: Set<String> = ["Title", "UserName", "URL", "Notes", "Uuid", "Path"]
  /// What KeePassXC adds to an item whose secret is no text.
  static let contentType = "FDO_SECRETS_CONTENT_TYPE"
  /// What of these can't be changed there.
  static let readOnly: Set<String> = ["Uuid", "Path"]
}

/// What kinds of items there are, for programs that list the keyring.
enum SchemaName {
  static let generic = "org.freedesktop.Secret.Generic"
  static let network = "org.gnome.keyring.NetworkPassword"
  /// What the items of sealed stores and of keys begin with.
  static let stores = "SecurePropertyStorage."
}

extension [String: String] {
  /// These without what the service adds by itself.
  ///
  /// It adds all of them to every item: an item without one of them is not KeePassXC's, and has what
  /// it has from a program.
  var withoutAdded: [String: String] {
    guard isOfKeePassXC else { return self }
    return filter { !AttributeName.added.contains($0.key) && $0.key != AttributeName.contentType }
  }

  /// These without what the service keeps from being changed.
  var withoutReadOnly: [String: String] {
    isOfKeePassXC ? filter { !AttributeName.readOnly.contains($0.key) } : self
  }

  /// Whether the service that has the item is KeePassXC.
  var isOfKeePassXC: Bool { AttributeName.added.allSatisfy { self[$0] != nil } }

  /// Whether these are the same bytes: to the bus, other forms of the same character are others.
  func isExactly(_ other: [String: String]) -> Bool {
    func bytes(_ attributes: [String: String]) -> [[UInt8]: [UInt8]] {
      [[UInt8]: [UInt8]](
        attributes.map { (Array($0.utf8), Array($1.utf8)) }, uniquingKeysWith: { first, _ in first }
      )
    }
    return bytes(self) == bytes(other)
  }

  /// These without the schema that gnome-keyring adds to items which have none, sooner or later.
  var withoutGenericSchema: [String: String] {
    filter { $0.key != AttributeName.schema || $0.value != SchemaName.generic }
  }
}
