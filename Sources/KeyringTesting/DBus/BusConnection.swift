internal import CLibsecret

/// A private connection to a bus.
@safe final class BusConnection: @unchecked Sendable {
  // Threads may share a GDBusConnection; the pointer itself never changes.
  private let connection: OpaquePointer
  private let filter = Guarded<(id: UInt32, number: Int)?>(nil)

  /// Connects to the bus at `address`.
  init(_ address: String, within timeout: Duration = .seconds(30)) throws(KeyringTestingError) {
    let flags = GDBusConnectionFlags(
      rawValue: G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT.rawValue
        | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION.rawValue)
    // A bus that hangs accepts the connection and then says nothing.
    let cancellable = Cancellable()
    WorkThread.shared.post(after: timeout) { cancellable.cancel() }
    var error: UnsafeMutablePointer<GError>?
    let made = unsafe g_dbus_connection_new_for_address_sync(
      address, flags, nil, cancellable.pointer, &error)
    guard let made = unsafe made else { throw unsafe KeyringTestingError(taking: error) }
    unsafe connection = made
  }

  deinit {
    close()
    unsafe g_object_unref(UnsafeMutableRawPointer(connection))
  }

  /// Calls a method and waits for the answer.
  ///
  /// - Throws: ``KeyringTestingError``, with the error's name when the service answered with one.
  func call(
    _ destination: String, _ path: String, _ interface: String, _ method: String,
    _ arguments: [DBusValue], timeout: Duration = .seconds(30)
  ) throws(KeyringTestingError) -> [DBusValue] {
    var error: UnsafeMutablePointer<GError>?
    let answer = unsafe g_dbus_connection_call_sync(
      connection, destination, path, interface, method, DBusValue.makeTuple(arguments), nil,
      G_DBUS_CALL_FLAGS_NO_AUTO_START, Int32(timeout / .milliseconds(1)), nil, &error)
    guard let answer = unsafe answer else { throw unsafe KeyringTestingError(taking: error) }
    defer { unsafe g_variant_unref(answer) }
    guard case .tuple(let values) = unsafe DBusValue(answer) else {
      throw KeyringTestingError("\(method) answered with something unreadable")
    }
    return values
  }

  /// Hands every method call from now on to `handler`, on GLib's own thread: it must not block.
  func receive(_ handler: @escaping @Sendable (Request) -> Void) {
    let number = Handlers.add(handler)
    let id = unsafe g_dbus_connection_add_filter(
      connection, filterMessage, UnsafeMutableRawPointer(bitPattern: number), nil)
    filter.withLock { $0 = (id, number) }
  }

  /// Answers a call.
  func reply(to request: Request, _ values: [DBusValue]) {
    guard request.expectsReply else { return }
    unsafe send(G_DBUS_MESSAGE_TYPE_METHOD_RETURN, body: values) { message in
      unsafe g_dbus_message_set_reply_serial(message, request.serial)
      unsafe g_dbus_message_set_destination(message, request.sender)
    }
  }

  /// Answers a call with an error.
  func refuse(_ request: Request, _ refusal: Refusal) {
    guard request.expectsReply else { return }
    unsafe send(G_DBUS_MESSAGE_TYPE_ERROR, body: [.string(refusal.message)]) { message in
      unsafe g_dbus_message_set_reply_serial(message, request.serial)
      unsafe g_dbus_message_set_destination(message, request.sender)
      unsafe g_dbus_message_set_error_name(message, refusal.name)
    }
  }

  /// Sends a signal.
  func emit(_ signal: Signal) {
    unsafe send(G_DBUS_MESSAGE_TYPE_SIGNAL, body: signal.body) { message in
      unsafe g_dbus_message_set_path(message, signal.path)
      unsafe g_dbus_message_set_interface(message, signal.interface)
      unsafe g_dbus_message_set_member(message, signal.member)
      unsafe g_dbus_message_set_destination(message, signal.destination)
    }
  }

  /// Ends the connection, after the sent messages have left.
  func close() {
    let last = filter.withLock { filter in
      defer { filter = nil }
      return filter
    }
    if let last {
      unsafe g_dbus_connection_remove_filter(connection, last.id)
      Handlers.remove(last.number)
    }
    // A bus that hangs accepts nothing more; unsent messages are then lost, as intended.
    let cancellable = Cancellable()
    WorkThread.shared.post(after: .seconds(2)) { cancellable.cancel() }
    unsafe g_dbus_connection_flush_sync(connection, cancellable.pointer, nil)
    unsafe g_dbus_connection_close_sync(connection, cancellable.pointer, nil)
  }

  private func send(
    _ type: GDBusMessageType, body: [DBusValue], _ address: (OpaquePointer) -> Void
  ) {
    guard let message = unsafe g_dbus_message_new() else { return }
    defer { unsafe g_object_unref(UnsafeMutableRawPointer(message)) }
    unsafe g_dbus_message_set_message_type(message, type)
    unsafe address(message)
    unsafe g_dbus_message_set_body(message, DBusValue.makeTuple(body))
    // This fails when the connection is gone; the receiver learns that from the bus.
    unsafe g_dbus_connection_send_message(
      connection, message, G_DBUS_SEND_MESSAGE_FLAGS_NONE, nil, nil)
  }
}

/// GLib's way to end a call early.
@safe private final class Cancellable: @unchecked Sendable {
  // A GCancellable is there to be used by several threads; the pointer never changes.
  let pointer: UnsafeMutablePointer<GCancellable>

  init() { unsafe pointer = g_cancellable_new() }

  deinit { unsafe g_object_unref(pointer) }

  func cancel() { unsafe g_cancellable_cancel(pointer) }
}

/// The receivers of calls, by number: a pointer to an object would need an owner on GLib's side.
private enum Handlers {
  private static let all = Guarded<(next: Int, handlers: [Int: @Sendable (Request) -> Void])>(
    (1, [:]))

  static func add(_ handler: @escaping @Sendable (Request) -> Void) -> Int {
    all.withLock { all in
      defer { all.next += 1 }
      all.handlers[all.next] = handler
      return all.next
    }
  }

  static func remove(_ number: Int) { all.withLock { $0.handlers[number] = nil } }

  static func handler(_ number: Int) -> (@Sendable (Request) -> Void)? {
    all.withLock { $0.handlers[number] }
  }
}

/// Takes method calls out of the incoming messages, and lets the rest through.
private let filterMessage: GDBusMessageFilterFunction = { _, message, incoming, data in
  guard incoming != 0, let message = unsafe message,
    unsafe g_dbus_message_get_message_type(message) == G_DBUS_MESSAGE_TYPE_METHOD_CALL,
    let handler = Handlers.handler(Int(bitPattern: data)),
    let request = unsafe Request(message)
  else { return unsafe message }
  unsafe g_object_unref(UnsafeMutableRawPointer(message))
  handler(request)
  return nil
}

extension Request {
  /// Reads a message; nil for a call that is not for a Secret Service.
  fileprivate init?(_ message: OpaquePointer) {
    guard let sender = unsafe g_dbus_message_get_sender(message),
      let path = unsafe g_dbus_message_get_path(message),
      let name = unsafe g_dbus_message_get_interface(message),
      let member = unsafe g_dbus_message_get_member(message)
    else { return nil }
    let interface = unsafe SystemText.shown(name)
    guard
      interface.hasPrefix("org.freedesktop.Secret.")
        || interface == "org.freedesktop.DBus.Properties"
    else { return nil }
    self.sender = unsafe SystemText.shown(sender)
    self.path = unsafe SystemText.shown(path)
    self.interface = String(interface.split(separator: ".").last!)
    self.member = unsafe SystemText.shown(member)
    serial = unsafe g_dbus_message_get_serial(message)
    let flags = unsafe g_dbus_message_get_flags(message).rawValue
    expectsReply = flags & G_DBUS_MESSAGE_FLAGS_NO_REPLY_EXPECTED.rawValue == 0
    guard let body = unsafe g_dbus_message_get_body(message) else {
      arguments = []
      return
    }
    arguments = unsafe DBusValue(body)?.elements
  }
}
