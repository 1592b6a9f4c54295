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

  /// Whether an item is at another port or path, so that this credential must not change it.
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
    var filter: [String: String] = [:]
    filter[AttributeName.port] = port.map { String($0) }
    filter[AttributeName.protocol] = `protocol`?.rawValue
    filter[AttributeName.object] = path
    var place = CredentialPlace(
      identity: { [AttributeName.server: server] }, extra: filter, filter: filter,
      schema: SchemaName.network, label: label ?? server, name: server)
    if server.isEmpty {
      place.failure = StorageError(.invalid, "internet credentials need the host name of a server")
    }
    return place
  }

  /// A password for the server of a URL.
  static func server(
    of url: URL?, protocol: InternetProtocol?, label: String?
  ) -> CredentialPlace {
    let path = url?.path ?? ""
    return server(
      url?.host ?? "", port: url?.port, path: path.isEmpty || path == "/" ? nil : path,
      protocol: `protocol` ?? url?.scheme.map { InternetProtocol(rawValue: $0.lowercased()) },
      label: label)
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
    var alternatives = [identity()]
    if let account {
      let names =
        hasServer ? AccountNames.read(hasServer: true) : AccountNames.written(hasServer: false)
      alternatives = names.map { name in
        identity().merging([name: account]) { $1 }
      }
    }
    let filter = filter
    return ItemQuery(
      alternatives: alternatives, place: .collection(group),
      accepts: { item in
        // Items that `secret-tool` stored may have fewer attributes.
        filter.allSatisfy { item.attributes[$0.key] == nil || item.attributes[$0.key] == $0.value }
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
