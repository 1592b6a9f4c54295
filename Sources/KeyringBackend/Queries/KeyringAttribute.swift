public import CryptoCore

public import struct FoundationEssentials.Data
public import struct FoundationEssentials.Date

/// An attribute of an item of the keyring, with its value.
///
/// Every program finds an attribute by its name: docs/keyring.md has the table. Printing one shows
/// its name and value, but never a secret.
public struct KeyringAttribute: Hashable, Sendable {
  /// A kind of item.
  public enum Kind: Hashable, Sendable {
    /// A secret of any kind: the schema `org.freedesktop.Secret.Generic`.
    case generic
    /// A password for a server: the schema `org.gnome.keyring.NetworkPassword`.
    case internet

    var schema: String { self == .generic ? SchemaName.generic : SchemaName.network }
  }

  /// Which attribute it is.
  enum Field: Hashable, Sendable {
    case kind
    case label
    case account
    case secret
    case created
    case modified
    case named(String)
  }

  let field: Field
  let text: String
  /// The bytes of a `secret`; empty for other attributes.
  let data: Data

  private init(_ field: Field, _ text: String, data: Data = Data()) {
    self.field = field
    self.text = text
    self.data = data
  }

  /// The kind of item; in a query, items without a schema are generic, and items with a server are
  /// internet.
  public static func kind(_ kind: Kind) -> KeyringAttribute {
    KeyringAttribute(.kind, kind.schema)
  }

  /// The service of a generic item: `service`.
  public static func service(_ text: String) -> KeyringAttribute {
    custom(AttributeName.service, text)
  }

  /// The account: `account` and, for Python's keyring, `username`; `user` if there is a server.
  ///
  /// A query finds any of them.
  public static func account(_ text: String) -> KeyringAttribute {
    KeyringAttribute(.account, text)
  }

  /// The host name of the server: `server`.
  public static func server(_ text: String) -> KeyringAttribute {
    custom(AttributeName.server, text)
  }

  /// The port at the server: `port`, in decimal.
  public static func port(_ number: Int) -> KeyringAttribute {
    custom(AttributeName.port, String(number))
  }

  /// The path at the server: `object`.
  public static func path(_ text: String) -> KeyringAttribute {
    custom(AttributeName.object, text)
  }

  /// The protocol of the server: `protocol`.
  public static func `protocol`(_ value: InternetProtocol) -> KeyringAttribute {
    custom(AttributeName.protocol, value.rawValue)
  }

  /// The security domain of the server: `domain`.
  public static func securityDomain(_ text: String) -> KeyringAttribute {
    custom(AttributeName.domain, text)
  }

  /// How the server authenticates, such as `basic`: `authtype`.
  public static func authenticationType(_ text: String) -> KeyringAttribute {
    custom(AttributeName.authenticationType, text)
  }

  /// The text that keyring programs show: the item's label, which is not an attribute on the bus.
  public static func label(_ text: String) -> KeyringAttribute { KeyringAttribute(.label, text) }

  /// A comment: `comment`.
  public static func comment(_ text: String) -> KeyringAttribute {
    custom(AttributeName.comment, text)
  }

  /// A description: `description`.
  public static func description(_ text: String) -> KeyringAttribute {
    custom(AttributeName.description, text)
  }

  /// Who made it: `creator`.
  public static func creator(_ text: String) -> KeyringAttribute {
    custom(AttributeName.creator, text)
  }

  /// When the item was made, to the second.
  ///
  /// Only for queries: changing it is the error `invalid`.
  public static func created(_ date: Date) -> KeyringAttribute {
    KeyringAttribute(.created, String(seconds(date)))
  }

  /// When the item was changed last, to the second.
  ///
  /// Only for queries: changing it is the error `invalid`.
  public static func modified(_ date: Date) -> KeyringAttribute {
    KeyringAttribute(.modified, String(seconds(date)))
  }

  /// An attribute of any name: a `custom("service", "a")` is a ``service(_:)``.
  ///
  /// - Parameters:
  ///   - name: its name, any text without a zero character.
  ///   - value: its value, any text without a zero character.
  /// - Returns: the attribute.
  public static func custom(_ name: String, _ value: String) -> KeyringAttribute {
    KeyringAttribute(name == AttributeName.schema ? .kind : .named(name), value)
  }

  /// The secret, as bytes; can't be searched for.
  public static func data(_ data: Data) -> KeyringAttribute {
    KeyringAttribute(.secret, PlainSecret.binary, data: data)
  }

  /// The secret, as text; can't be searched for.
  public static func password(_ text: String) -> KeyringAttribute {
    let type = text.utf8.contains(0) ? PlainSecret.binary : PlainSecret.text
    return KeyringAttribute(.secret, type, data: Data(text.utf8))
  }

  private static func seconds(_ date: Date) -> Int64 {
    // A date that is not finite, or beyond `Int64`, becomes -1, which no item has.
    Int64(exactly: date.timeIntervalSince1970.rounded(.down)) ?? -1
  }
}

extension KeyringAttribute: RedactedDescription {
  /// The name and the value; for a secret only the name.
  public var description: String {
    switch field {
    case .kind: "\(AttributeName.schema)=\(text)"
    case .label: "label=\(text)"
    case .account: "account=\(text)"
    case .secret: "secret"
    case .created: "created=\(text)"
    case .modified: "modified=\(text)"
    case .named(let name): "\(name)=\(text)"
    }
  }
}
