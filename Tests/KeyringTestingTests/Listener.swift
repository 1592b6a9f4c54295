import CLibsecret
import Foundation

@testable import KeyringTesting

/// Hears the signals that come to one client: those sent to it, and broadcasts if it asks for them.
@safe final class Listener: @unchecked Sendable {
  // Constants alone; of the pointer, see there.

  /// A signal: its name, as `Collection.ItemChanged`, and what is in it.
  struct Heard: Sendable {
    let name: String
    let path: String
    let body: [DBusValue]
  }

  // A GDBusConnection may be used by any thread; the pointer never changes.
  let connection: OpaquePointer
  private let number: Int
  // By number: GLib's own hand-over of a pointer looks like a race to Thread Sanitizer.
  private static let all = Guarded<[Int: [Heard]]>([:])

  init(_ bus: PrivateBus, hearsBroadcasts: Bool = true) throws {
    let flags = GDBusConnectionFlags(
      rawValue: G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT.rawValue
        | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION.rawValue)
    unsafe connection = g_dbus_connection_new_for_address_sync(bus.address, flags, nil, nil, nil)
    number = Self.all.withLock { all in
      let number = (all.keys.max() ?? 0) + 1
      all[number] = []
      return number
    }
    unsafe g_dbus_connection_add_filter(
      connection,
      { _, message, incoming, data in
        guard incoming != 0, let message = unsafe message, let data = unsafe data,
          unsafe g_dbus_message_get_message_type(message) == G_DBUS_MESSAGE_TYPE_SIGNAL,
          let signal = unsafe Heard(message)
        else { return unsafe message }
        Listener.all.withLock { $0[Int(bitPattern: data)]?.append(signal) }
        return unsafe message
      }, UnsafeMutableRawPointer(bitPattern: number), nil)
    if hearsBroadcasts {
      _ = try call(
        "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "AddMatch",
        [.string("type='signal'")])
    }
  }

  deinit {
    unsafe g_dbus_connection_close_sync(connection, nil, nil)
    unsafe g_object_unref(UnsafeMutableRawPointer(connection))
    Self.all.withLock { $0[number] = nil }
  }

  @discardableResult
  func call(
    _ destination: String, _ path: String, _ interface: String, _ method: String,
    _ arguments: [DBusValue]
  ) throws -> [DBusValue] {
    var error: UnsafeMutablePointer<GError>?
    let answer = unsafe g_dbus_connection_call_sync(
      connection, destination, path, interface, method, DBusValue.makeTuple(arguments), nil,
      G_DBUS_CALL_FLAGS_NONE, 5_000, nil, &error)
    guard let answer = unsafe answer else { throw unsafe KeyringTestingError(taking: error) }
    defer { unsafe g_variant_unref(answer) }
    return unsafe DBusValue(answer)?.elements ?? []
  }

  func showPrompt(_ path: String) throws {
    try call(
      SecretServiceName.bus, path, "org.freedesktop.Secret.Prompt", "Prompt", [.string("")])
  }

  /// What was heard of a signal, after waiting for `count` of it.
  func signals(
    _ name: String, atLeast count: Int = 1, within duration: Duration = .seconds(60)
  ) -> [Heard] {
    let find = { Self.all.withLock { ($0[self.number] ?? []).filter { $0.name == name } } }
    _ = Deadline(duration).holds { find().count >= count }
    return find()
  }

  /// Waits until what the service has sent so far is here, and gives what was heard of a signal.
  func signalsSoFar(_ name: String) throws -> [Heard] {
    try call(
      SecretServiceName.bus, SecretServiceName.root, "org.freedesktop.Secret.Service",
      "ReadAlias", [.string("none")])
    return signals(name, atLeast: 0)
  }
}

extension Listener.Heard {
  fileprivate init?(_ message: OpaquePointer) {
    guard let interface = unsafe g_dbus_message_get_interface(message),
      let member = unsafe g_dbus_message_get_member(message),
      let path = unsafe g_dbus_message_get_path(message)
    else { return nil }
    let family = unsafe String(cString: interface).split(separator: ".").last ?? ""
    name = unsafe "\(family).\(String(cString: member))"
    self.path = unsafe String(cString: path)
    body = unsafe g_dbus_message_get_body(message).flatMap { unsafe DBusValue($0)?.elements } ?? []
  }
}
