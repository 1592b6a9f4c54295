/// A method call that came over the bus.
struct Request: Sendable {
  let sender: String
  let serial: UInt32
  let expectsReply: Bool
  let path: String
  /// The last part of the interface's name, such as `Item`.
  let interface: String
  let member: String
  /// nil when a value has a type that no method here takes.
  let arguments: [DBusValue]?

  /// The interface and the method, such as `Item.Delete`.
  var method: String { interface + "." + member }
}

/// A signal to send.
struct Signal: Sendable {
  let path: String
  let interface: String
  let member: String
  let body: [DBusValue]
  /// nil for a broadcast.
  var destination: String?
}

/// A D-Bus error to answer with.
struct Refusal: Error, Sendable {
  let name: String
  let message: String

  static func isLocked(_ path: String) -> Refusal {
    Refusal(name: "org.freedesktop.Secret.Error.IsLocked", message: "\(path) is locked")
  }

  static let noSession = Refusal(
    name: "org.freedesktop.Secret.Error.NoSession", message: "there is no such session")

  /// For a call of an unknown method, or with unknown arguments.
  static func unusable(_ request: Request) -> Refusal {
    methods.contains(request.method)
      ? invalidArguments("\(request.method) takes other arguments")
      : Refusal(
        name: "org.freedesktop.DBus.Error.UnknownMethod", message: "there is no \(request.method)")
  }

  private static let methods: Set<String> = [
    "Service.OpenSession", "Service.CreateCollection", "Service.SearchItems", "Service.Unlock",
    "Service.Lock", "Service.GetSecrets", "Service.ReadAlias", "Service.SetAlias",
    "Collection.Delete", "Collection.SearchItems", "Collection.CreateItem", "Item.Delete",
    "Item.GetSecret", "Item.SetSecret", "Prompt.Prompt", "Prompt.Dismiss", "Session.Close",
    "Properties.Get", "Properties.GetAll", "Properties.Set",
  ]

  static func invalidArguments(_ message: String) -> Refusal {
    Refusal(name: "org.freedesktop.DBus.Error.InvalidArgs", message: message)
  }

  static func notSupported(_ message: String) -> Refusal {
    Refusal(name: "org.freedesktop.DBus.Error.NotSupported", message: message)
  }
}
