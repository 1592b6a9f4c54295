public import CryptoCore

public import struct FoundationEssentials.Data
public import struct FoundationEssentials.Date

/// An item of the keyring, as it was when it was read.
///
/// Printing it shows its label and attributes, and no secret.
public struct KeyringItem: Hashable, Sendable {
  /// What tells the item apart from all others, such as `login/12`; nil unless attributes were
  /// asked for.
  ///
  /// It is the collection and the number that the service gave the item: the end of its path on
  /// the bus. ``KeyringOption/id(_:)`` finds the item by it. A service may number its items anew
  /// when it starts.
  public let id: String?
  /// All attributes, by the service's own names, with those that the service adds; empty unless
  /// attributes were asked for.
  public let attributes: [String: String]
  /// The label that keyring programs show; nil unless attributes were asked for.
  public let label: String?
  /// When it was made, to the second; nil unless attributes were asked for, and when the service
  /// does not know.
  public let created: Date?
  /// When it was changed last, to the second; nil as ``created``.
  public let modified: Date?
  /// The secret; nil unless it was asked for.
  public let data: Data?

  init(_ snapshot: ItemSnapshot, data: Data?, hasAttributes: Bool) {
    self.data = data
    id = hasAttributes ? snapshot.path.id : nil
    attributes = hasAttributes ? snapshot.attributes : [:]
    label = hasAttributes ? snapshot.label : nil
    created = hasAttributes ? Self.date(snapshot.created) : nil
    modified = hasAttributes ? Self.date(snapshot.modified) : nil
  }

  private static func date(_ seconds: UInt64) -> Date? {
    seconds == 0 ? nil : Date(timeIntervalSince1970: Double(seconds))
  }

  /// The secret as text; nil when it is not UTF-8, and unless it was asked for.
  public var password: String? { data.flatMap { String(validating: $0, as: UTF8.self) } }

  /// The value of an attribute, or nil when the item has none of that name.
  public subscript(name: String) -> String? { attributes[name] }

  /// What kind of item it is: internet with a server or that schema, else generic.
  public var kind: KeyringAttribute.Kind {
    attributes[AttributeName.schema] == SchemaName.network || server != nil ? .internet : .generic
  }

  /// The service, or nil when the item has none; the same holds for the properties below.
  public var service: String? { attributes[AttributeName.service] }
  /// The account, under whichever name the item has.
  public var account: String? { AccountNames.get(attributes) }
  /// The host name of the server.
  public var server: String? { attributes[AttributeName.server] }
  /// The port at the server; nil also if the attribute is no number.
  public var port: Int? { attributes[AttributeName.port].flatMap { Int($0) } }
  /// The path at the server.
  public var path: String? { attributes[AttributeName.object] }
  /// The protocol of the server.
  public var `protocol`: InternetProtocol? {
    attributes[AttributeName.protocol].map { InternetProtocol(rawValue: $0) }
  }
  /// The security domain of the server.
  public var securityDomain: String? { attributes[AttributeName.domain] }
  /// How the server authenticates.
  public var authenticationType: String? { attributes[AttributeName.authenticationType] }
  /// The comment.
  public var comment: String? { attributes[AttributeName.comment] }
  /// The attribute `description`, which is not how the item is printed.
  public var itemDescription: String? { attributes[AttributeName.description] }
  /// Who made it.
  public var creator: String? { attributes[AttributeName.creator] }
}

extension KeyringItem: RedactedDescription {
  /// The label and the attributes, and no secret.
  public var description: String {
    let shown = attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    return "KeyringItem(\(label.map { "\"\($0)\", " } ?? "")\(shown.joined(separator: ", ")))"
  }
}
