public import CryptoCore
internal import FoundationEssentials
internal import StorageCore

/// Attributes of an item of the keyring, one of each name.
///
///     let attributes: KeyringAttributes = [.service("github.token"), .account("me")]
///     let raw: KeyringAttributes = ["service": "github.token", "account": "me"]
///
/// The second form uses the service's own names: only ``KeyringAttribute/account(_:)`` finds an
/// account by several names.
public struct KeyringAttributes: Hashable, Sendable {
  private var values: [KeyringAttribute.Field: KeyringAttribute] = [:]

  /// These attributes; if several have the same name, the last one.
  public init(_ attributes: some Sequence<KeyringAttribute>) {
    for attribute in attributes { values[attribute.field] = attribute }
  }

  /// Attributes by the names that the service has for them.
  public init(_ attributes: [String: String]) {
    self.init(attributes.map { KeyringAttribute.custom($0.key, $0.value) })
  }

  /// Adds an attribute, in place of any other of its name.
  public mutating func insert(_ attribute: KeyringAttribute) {
    values[attribute.field] = attribute
  }
}

extension KeyringAttributes: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
  /// These attributes; if several have the same name, the last one.
  public init(arrayLiteral elements: KeyringAttribute...) { self.init(elements) }

  /// Attributes by the names that the service has for them; if several have the same name, the last
  /// one.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init(elements.map { KeyringAttribute.custom($0.0, $0.1) })
  }
}

extension KeyringAttributes: RedactedDescription {
  /// The attributes in the order of their names, and no secret.
  public var description: String {
    "[" + values.values.map(\.description).sorted().joined(separator: ", ") + "]"
  }
}

// MARK: - What they mean

extension KeyringAttributes {
  subscript(field: KeyringAttribute.Field) -> String? { values[field]?.text }

  /// These attributes, and those of `others` that are not among them.
  func merging(_ others: KeyringAttributes) -> KeyringAttributes {
    var merged = self
    merged.values.merge(others.values) { mine, _ in mine }
    return merged
  }

  /// The attributes that have the service's own names.
  var named: [String: String] {
    var named: [String: String] = [:]
    for (field, attribute) in values {
      if case .named(let name) = field { named[name] = attribute.text }
    }
    return named
  }

  /// The secret, if it is among them.
  func secret() throws(StorageError) -> PlainSecret? {
    guard let value = values[.secret] else { return nil }
    let bytes = try cryptography { () throws(CryptoError) in try SecureBytes(value.data) }
    return PlainSecret(bytes, contentType: value.text)
  }

  private var hasServer: Bool {
    self[.named(AttributeName.server)] != nil || self[.kind] == SchemaName.network
  }

  /// The attributes of a new item that is made of these.
  var made: [String: String] {
    var made = named
    made[AttributeName.schema] =
      self[.kind] ?? (hasServer ? SchemaName.network : SchemaName.generic)
    if let account = self[.account] {
      for name in AccountNames.written(hasServer: hasServer) { made[name] = account }
    }
    return made
  }

  /// An item's attributes after a change by these.
  func changed(_ attributes: [String: String]) -> [String: String] {
    var changed = attributes.merging(named) { $1 }
    if let kind = self[.kind] { changed[AttributeName.schema] = kind }
    if let account = self[.account] { AccountNames.set(account, in: &changed) }
    return changed
  }

  /// The query for items that have all of these attributes.
  func query(in place: ItemQuery.Place) throws(StorageError) -> ItemQuery {
    guard values[.secret] == nil else {
      throw StorageError(
        .invalid, "items can't be searched by their secret; leave it out of the query")
    }
    var alternatives = [named]
    if let account = self[.account] {
      alternatives = AccountNames.read(hasServer: hasServer).map { name in
        named.merging([name: account]) { $1 }
      }
    }
    let attributes = self
    return ItemQuery(
      alternatives: alternatives, place: place, accepts: { attributes.accepts($0) },
      subject: "these attributes")
  }

  /// Checks the attributes that the service can't search for.
  private func accepts(_ item: ItemSnapshot) -> Bool {
    if let label = self[.label], item.label != label { return false }
    if let created = self[.created], String(item.created) != created { return false }
    if let modified = self[.modified], String(item.modified) != modified { return false }
    guard let kind = self[.kind] else { return true }
    let schema = item.attributes[AttributeName.schema]
    let isNetwork =
      schema == SchemaName.network || item.attributes[AttributeName.server] != nil
    switch kind {
    case SchemaName.network: return isNetwork
    case SchemaName.generic: return !isNetwork && (schema == nil || schema == SchemaName.generic)
    default: return schema == kind
    }
  }

  /// Throws `invalid` for attributes that can't be changed.
  func requireChangeable() throws(StorageError) {
    guard values[.created] == nil, values[.modified] == nil else {
      throw StorageError(
        .invalid, "the keyring service sets the dates of an item; they can't be changed")
    }
    if let addressFailure { throw addressFailure }
  }

  /// Why these can't be stored: a server that is no host, or another part of an address that is
  /// none.
  ///
  /// An item's attributes are not encrypted. Nil if they can be stored.
  ///
  /// A query may name anything, so that items of other programs are found.
  var addressFailure: StorageError? {
    let named = named
    guard let server = named[AttributeName.server] else { return nil }
    let address = ServerAddress(
      host: server, port: named[AttributeName.port].map { Int($0) ?? 0 },
      path: named[AttributeName.object],
      protocol: named[AttributeName.protocol].map { InternetProtocol(rawValue: $0) })
    return address.failure
  }
}

/// The names that programs use for an account.
enum AccountNames {
  /// The names that are written.
  static func written(hasServer: Bool) -> [String] {
    hasServer ? [AttributeName.user] : [AttributeName.account, AttributeName.username]
  }

  /// The names that are searched.
  static func read(hasServer: Bool) -> [String] {
    hasServer
      ? [AttributeName.user, AttributeName.account, AttributeName.username]
      : [AttributeName.account, AttributeName.username, AttributeName.user]
  }

  /// Changes the account under each name that the item has; nil removes it.
  static func set(_ account: String?, in attributes: inout [String: String]) {
    let hasServer = attributes[AttributeName.server] != nil
    var names = read(hasServer: hasServer).filter { attributes[$0] != nil }
    if names.isEmpty { names = written(hasServer: hasServer) }
    for name in names { attributes[name] = account }
  }

  /// The account, under whichever name the item has.
  static func get(_ attributes: [String: String]) -> String? {
    read(hasServer: attributes[AttributeName.server] != nil).lazy.compactMap { attributes[$0] }
      .first
  }
}
