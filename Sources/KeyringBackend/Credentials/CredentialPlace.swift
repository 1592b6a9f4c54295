internal import FoundationEssentials
internal import StorageCore

/// The attributes that a credential is found by, and those of a new one.
struct CredentialPlace: Sendable {
  /// The attributes that identify the credential besides the account.
  let identity: @Sendable () -> [String: String]
  /// Further attributes of a new item.
  ///
  /// An existing item need not have them, except as ``filter`` says.
  var extra: [String: String] = [:]
  /// Values that an existing item must have in these attributes, if it has them at all.
  var filter: [String: String] = [:]
  /// The host as the program wrote it, if other letters stand for the same one.
  var writtenHost: String?
  var schema = SchemaName.generic
  let label: String
  /// The credential's name in errors.
  let name: String
  /// Why the credential can't be used at all.
  var failure: StorageError?

  var hasServer: Bool { schema == SchemaName.network }

  /// Whether an item is exactly this one: it has this port and path, or none as this.
  func isExact(_ item: ItemSnapshot) -> Bool {
    Self.places.allSatisfy { item.attributes[$0] == filter[$0] }
  }

  /// Whether an item is at another port or path, so that it is not this credential: nothing sends
  /// the password of one port to another.
  func isElsewhere(_ item: ItemSnapshot) -> Bool {
    Self.places.contains { item.attributes[$0] != nil && item.attributes[$0] != filter[$0] }
  }

  private static let places = [AttributeName.port, AttributeName.object]

  // MARK: - Kinds

  /// A secret of a service.
  static func service(_ service: String, label: String?) -> CredentialPlace {
    CredentialPlace(
      identity: { [AttributeName.service: service] }, label: label ?? service, name: service)
  }

  /// A password for a server.
  static func server(
    _ server: String, port: Int?, path: String?, protocol: InternetProtocol?, label: String?
  ) -> CredentialPlace {
    let address = ServerAddress(host: server, port: port, path: path, protocol: `protocol`)
    if let failure = address.failure {
      // The text may be a URL with a password in it, so that nothing of it is kept.
      return CredentialPlace(
        identity: { [:] }, schema: SchemaName.network, label: label ?? "", name: "server",
        failure: failure)
    }
    var filter: [String: String] = [:]
    filter[AttributeName.port] = port.map { String($0) }
    filter[AttributeName.protocol] = `protocol`?.rawValue
    filter[AttributeName.object] = path
    return CredentialPlace(
      identity: { [AttributeName.server: server] }, extra: filter, filter: filter,
      schema: SchemaName.network, label: label ?? server, name: server)
  }

  /// A password for the server of a URL, whose host is the same in letters of any case.
  static func server(
    of url: URL?, protocol: InternetProtocol?, label: String?
  ) -> CredentialPlace {
    let path = url?.path ?? ""
    let host = url?.host ?? ""
    var place = server(
      host.lowercased(), port: url?.port, path: path.isEmpty || path == "/" ? nil : path,
      protocol: `protocol` ?? url?.scheme.map { InternetProtocol(rawValue: $0.lowercased()) },
      label: label)
    if place.failure == nil, host != host.lowercased() { place.writtenHost = host }
    return place
  }

  /// A value of the application's own.
  static func item(_ name: String, label: String?) -> CredentialPlace {
    CredentialPlace(
      identity: {
        [
          AttributeName.application: SecureStorage.configuration.applicationID,
          AttributeName.item: name,
        ]
      }, label: label ?? name, name: name)
  }

  // MARK: - Attributes

  /// The query that finds the credential.
  func query(_ account: String?, in group: String?) -> ItemQuery {
    var identities = [identity()]
    if let writtenHost {
      identities.append(identity().merging([AttributeName.server: writtenHost]) { $1 })
    }
    var alternatives = identities
    if let account {
      let names =
        hasServer ? AccountNames.read(hasServer: true) : AccountNames.written(hasServer: false)
      alternatives = identities.flatMap { identity in
        names.map { name in identity.merging([name: account]) { $1 } }
      }
    }
    return ItemQuery(
      alternatives: alternatives, place: .collection(group),
      accepts: { item in
        // Items that `secret-tool` stored may have fewer attributes.
        filter.allSatisfy { item.attributes[$0.key] == nil || item.attributes[$0.key] == $0.value }
          && !(hasServer && isElsewhere(item))
      }, subject: "this credential")
  }

  /// The attributes of a new item.
  func made(_ account: String?) -> [String: String] {
    var attributes = identity().merging(extra) { $1 }
    attributes[AttributeName.schema] = schema
    if let account {
      for name in AccountNames.written(hasServer: hasServer) { attributes[name] = account }
    }
    return attributes
  }

  /// The same as attributes, for queries.
  func attributes(_ account: String?) -> KeyringAttributes {
    var attributes = KeyringAttributes(identity())
    if hasServer { attributes.insert(.kind(.internet)) }
    if let account { attributes.insert(.account(account)) }
    return attributes
  }
}
