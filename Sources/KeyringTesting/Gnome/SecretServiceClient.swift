/// The names that the Secret Service has on a bus.
enum SecretServiceName {
  static let bus = "org.freedesktop.secrets"
  static let root = "/org/freedesktop/secrets"
  static let collections = root + "/collection/"
  static let aliases = root + "/aliases/"
  /// gnome-keyring's own interface, which asks nobody.
  static let withoutPrompt = "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface"

  /// An interface by the last part of its name.
  static func interface(_ name: String) -> String { "org.freedesktop.Secret." + name }

  /// The path of a collection that is given by its path or by the last part of that.
  static func collectionPath(_ name: String) -> String {
    name.hasPrefix("/") ? name : collections + name
  }
}

/// The few calls that controlling a Secret Service takes.
struct SecretServiceClient {
  private let connection: BusConnection

  init(_ connection: BusConnection) { self.connection = connection }

  /// Calls a method of the service itself.
  func call(
    _ interface: String, _ method: String, _ arguments: DBusValue...
  ) throws(KeyringTestingError) -> [DBusValue] {
    try connection.call(
      SecretServiceName.bus, SecretServiceName.root, interface, method, arguments)
  }

  func isLocked(_ collection: String) throws(KeyringTestingError) -> Bool {
    // gnome-keyring 42 aborts when a program that it does not know yet asks for a property.
    _ = try openSession()
    let answer = try connection.call(
      SecretServiceName.bus, SecretServiceName.collectionPath(collection),
      "org.freedesktop.DBus.Properties", "Get",
      [.string("org.freedesktop.Secret.Collection"), .string("Locked")])
    guard let isLocked = answer.first?.content?.boolean else {
      throw KeyringTestingError("the answer to Get is not a boolean")
    }
    return isLocked
  }

  /// A password as the service takes it, in a session of this connection.
  func secret(_ password: String) throws(KeyringTestingError) -> DBusValue {
    .tuple([
      .objectPath(try openSession()), .bytes([]), .bytes(Array(password.utf8)),
      .string("text/plain"),
    ])
  }

  private func openSession() throws(KeyringTestingError) -> String {
    let answer = try call(
      "org.freedesktop.Secret.Service", "OpenSession", .string("plain"), .variant(.string("")))
    guard answer.count == 2, let session = answer[1].text else {
      throw KeyringTestingError("the answer to OpenSession is not a session")
    }
    return session
  }
}

extension BusConnection {
  /// Calls a method of the bus itself.
  func callBus(
    _ method: String, _ arguments: DBusValue...
  ) throws(KeyringTestingError) -> [DBusValue] {
    try call(
      "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", method, arguments)
  }

  /// Whether somebody serves under a name.
  func hasOwner(_ name: String) throws(KeyringTestingError) -> Bool {
    try callBus("NameHasOwner", .string(name)).first?.boolean == true
  }
}
