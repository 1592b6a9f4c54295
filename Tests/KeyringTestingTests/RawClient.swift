import Testing

@testable import KeyringTesting

/// A client that sends what it is told, and adds nothing of its own.
struct RawClient {
  static let defaultCollection = "/org/freedesktop/secrets/aliases/default"

  let connection: BusConnection
  let session: String

  init(_ bus: PrivateBus) throws {
    connection = try BusConnection(bus.address)
    let answer = try connection.call(
      SecretServiceName.bus, SecretServiceName.root, "org.freedesktop.Secret.Service",
      "OpenSession", [.string("plain"), .variant(.string(""))])
    session = try #require(answer.last?.text)
  }

  /// Calls a method, named as `Service.Lock`; on the service itself unless a path is given.
  func call(
    _ method: String, on path: String = SecretServiceName.root, _ arguments: DBusValue...,
    timeout: Duration = .seconds(60)
  ) throws(KeyringTestingError) -> [DBusValue] {
    try call(method, on: path, arguments, timeout: timeout)
  }

  func call(
    _ method: String, on path: String, _ arguments: [DBusValue], timeout: Duration = .seconds(60)
  ) throws(KeyringTestingError) -> [DBusValue] {
    let parts = method.split(separator: ".")
    let family = parts[0] == "Properties" ? "org.freedesktop.DBus." : "org.freedesktop.Secret."
    return try connection.call(
      SecretServiceName.bus, path, family + parts[0], String(parts[1]), arguments,
      timeout: timeout)
  }

  /// The name of the error that a call ends with; nil when it succeeds.
  func error(_ body: () throws(KeyringTestingError) -> some Any) -> String? {
    do {
      _ = try body()
      return nil
    } catch { return error.errorName ?? error.description }
  }

  /// CreateItem in the default collection: the path of the item, and that of the prompt.
  func create(
    _ attributes: [String: String], _ secret: [UInt8] = [1], type: String = "text/plain",
    label: String = "label", replace: Bool = false
  ) throws(KeyringTestingError) -> (item: String, prompt: String) {
    let answer = try call(
      "Collection.CreateItem", on: Self.defaultCollection,
      .properties([
        "org.freedesktop.Secret.Item.Label": .string(label),
        "org.freedesktop.Secret.Item.Attributes": .attributes(attributes),
      ]), secretValue(secret, type: type), .boolean(replace))
    return (answer[0].text!, answer[1].text!)
  }

  func secretValue(_ secret: [UInt8], type: String = "text/plain") -> DBusValue {
    .tuple([.objectPath(session), .bytes([]), .bytes(secret), .string(type)])
  }

  func setSecret(_ secret: [UInt8], of item: String) throws(KeyringTestingError) {
    _ = try call("Item.SetSecret", on: item, secretValue(secret))
  }

  /// GetSecret: session, parameters, secret and content type.
  func getSecret(of item: String) throws(KeyringTestingError) -> [DBusValue] {
    try call("Item.GetSecret", on: item, .objectPath(session)).first?.elements ?? []
  }

  /// GetSecrets: the secrets by paths.
  func getSecrets(of items: String...) throws(KeyringTestingError) -> [String: [UInt8]] {
    let answer = try call("Service.GetSecrets", .paths(items), .objectPath(session))
    var secrets: [String: [UInt8]] = [:]
    for case .entry(let path, let secret) in answer[0].elements ?? [] {
      secrets[path.text!] = secret.elements?[2].bytes
    }
    return secrets
  }

  /// SearchItems of the service: unlocked ones and locked ones.
  func search(
    _ attributes: [String: String]
  ) throws(KeyringTestingError) -> (unlocked: [String], locked: [String]) {
    let answer = try call("Service.SearchItems", .attributes(attributes))
    return (answer[0].paths ?? [], answer[1].paths ?? [])
  }

  func property(
    _ name: String, of path: String, _ interface: String
  ) throws(KeyringTestingError) -> DBusValue? {
    let full = "org.freedesktop.Secret." + interface
    return try call("Properties.Get", on: path, .string(full), .string(name)).first?.content
  }

  func setProperty(
    _ name: String, of path: String, _ interface: String, to value: DBusValue
  ) throws(KeyringTestingError) {
    let full = "org.freedesktop.Secret." + interface
    _ = try call("Properties.Set", on: path, .string(full), .string(name), .variant(value))
  }
}
