internal import CLibsecret
internal import CryptoCore
internal import Dispatch
internal import StorageCore
internal import Synchronization

/// A connection to the bus, with a session of the Secret Service on it.
///
/// The connection is our own and not GLib's shared one, which ends the process when the bus goes
/// away. Calls are made on the caller's thread: any number of threads may call
/// g_dbus_connection_call_sync().
@safe
final class BusConnection: @unchecked Sendable {
  // Both pointers are set in `init` and never changed. GDBusConnection is made for many threads.
  // The session's functions are not documented to be, so `coding` lets one of them run at a time.
  let handle: OpaquePointer
  private let service: UnsafeMutablePointer<SecretService>
  private let coding = Lock(())
  /// The unique name of the service that has the session, to which all calls go.
  ///
  /// By the well-known name a call after a restart would reach another process. KWallet then
  /// numbers its sessions and items from the start again: a secret would be encrypted with another
  /// program's session key, or belong to another item.
  let owner: String
  /// The name of the service.
  static let serviceName = "org.freedesktop.secrets"
  /// Tells the connections of this process apart.
  let number = BusConnection.count.add(1, ordering: .relaxed).newValue
  private static let count = Atomic<UInt64>(0)
  private let proven = Atomic<Bool>(false)

  /// Whether both sides are known to have the same key.
  var isProven: Bool {
    get { proven.load(ordering: .relaxed) }
    set { proven.store(newValue, ordering: .relaxed) }
  }

  /// Connects, and agrees on a session's key.
  ///
  /// - Throws: `noBus`, `noService`, `timedOut`, `cancelled`, or the error that the service
  ///   returned.
  init(_ address: String, _ call: Call) throws(BusFailure) {
    let connection = try unsafe Self.connect(to: address, call)
    unsafe handle = connection
    do throws(BusFailure) {
      unsafe owner = try Self.findService(on: connection, call)
      unsafe service = try Self.openSession(on: connection, with: owner, call)
    } catch {
      unsafe g_object_unref(UnsafeMutableRawPointer(connection))
      throw error
    }
  }

  deinit {
    // A child of fork(2) keeps its copy open: closing would wait for threads that the child does
    // not have.
    guard !KeyringClient.isInChild else { return }
    unsafe g_object_unref(service)
    // The last reference closes the connection.
    unsafe g_object_unref(UnsafeMutableRawPointer(handle))
  }

  /// Connects, and ends the connection.
  static func reach(_ address: String, _ call: Call) throws(BusFailure) {
    unsafe g_object_unref(UnsafeMutableRawPointer(try connect(to: address, call)))
  }

  private static func connect(
    to address: String, _ call: Call
  ) throws(BusFailure) -> OpaquePointer {
    let flags = GDBusConnectionFlags(
      rawValue: G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT.rawValue
        | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION.rawValue)
    var error: UnsafeMutablePointer<GError>?
    let (connection, isOutOfTime) = try unsafe withDeadline(of: call, for: "connecting") {
      cancellable in
      unsafe g_dbus_connection_new_for_address_sync(address, flags, nil, cancellable, &error)
    }
    if let connection = unsafe connection { return unsafe connection }
    let isAbsent = unsafe error.map { unsafe isAbsence($0.pointee) } ?? false
    let failure = unsafe BusFailure(adopting: error, of: "connecting", isOutOfTime: isOutOfTime)
    guard failure.error.code != .timedOut, failure.error.code != .cancelled else { throw failure }
    guard isAbsent else {
      throw BusFailure(
        .denied,
        "the session bus refused the connection; see whose bus DBUS_SESSION_BUS_ADDRESS names, and "
          + "whether this user may use it")
    }
    throw BusFailure(
      .noBus, "nothing answers at the address of the session bus; check DBUS_SESSION_BUS_ADDRESS")
  }

  /// Whether a failure to connect means that there is no bus.
  ///
  /// A bus that refuses this process exists. Nothing may then be stored in a weaker place.
  private static func isAbsence(_ error: GError) -> Bool {
    let (domain, code) = unsafe (error.domain, error.code)
    guard domain == g_io_error_quark() else { return domain != g_dbus_error_quark() }
    let codes = [
      G_IO_ERROR_NOT_FOUND, G_IO_ERROR_NOT_DIRECTORY, G_IO_ERROR_CONNECTION_REFUSED,
      G_IO_ERROR_INVALID_ARGUMENT, G_IO_ERROR_NOT_SUPPORTED, G_IO_ERROR_FILENAME_TOO_LONG,
    ]
    return codes.contains { Int32(bitPattern: $0.rawValue) == code }
  }

  /// The unique name of the service; the bus starts the service if it knows how.
  private static func findService(
    on connection: OpaquePointer, _ call: Call
  ) throws(BusFailure) -> String {
    func ask(
      _ method: String, _ arguments: [Variant], as type: String
    ) throws(BusFailure) -> Variant {
      try unsafe invoke(
        .bus(method), of: "org.freedesktop.DBus", at: ObjectPath(text: "/org/freedesktop/DBus"),
        arguments, as: type, on: connection, call)
    }
    let name = try storage { () throws(StorageError) in try Variant.string(serviceName) }
    let answer: Variant
    do throws(BusFailure) {
      answer = try ask("GetNameOwner", [name], as: "(s)")
    } catch {
      guard error.error.code == .noService else { throw error }
      _ = try ask("StartServiceByName", [name, .number(0)], as: "(u)")
      answer = try ask("GetNameOwner", [name], as: "(s)")
    }
    guard let owner = answer[0].text else { throw malformed("GetNameOwner") }
    return owner
  }

  private static func openSession(
    on connection: OpaquePointer, with owner: String, _ call: Call
  ) throws(BusFailure) -> UnsafeMutablePointer<SecretService> {
    // KWallet's exchange of a session's key fails about once in a hundred.
    var last = BusFailure.outOfTime("OpenSession")
    for _ in 0..<3 {
      let milliseconds = try call.milliseconds(for: "OpenSession")
      var error: UnsafeMutablePointer<GError>?
      let (service, isOutOfTime) = try unsafe withDeadline(of: call, for: "OpenSession") {
        cancellable in
        unsafe sps_secret_service_new(
          connection, owner, milliseconds, cancellable, &error)
      }
      if let service = unsafe service {
        if unsafe secret_service_get_session_dbus_path(service) != nil {
          return unsafe service
        }
        unsafe g_object_unref(service)
        last = BusFailure(.io, "the keyring service opened no session")
        continue
      }
      last = unsafe BusFailure(adopting: error, of: "OpenSession", isOutOfTime: isOutOfTime)
      switch last.error.code {
      case .io, .damaged: continue
      default: throw last
      }
    }
    throw last
  }

  /// The queue that ends calls at their deadlines.
  ///
  /// It is not a shared queue, since calls may occupy all threads of a shared queue.
  private static let timing = DispatchQueue(label: "SecurePropertyStorage.KeyringBackend.timing")

  /// Runs a GLib call that has a cancellable and no timeout of its own.
  ///
  /// - Returns: the result of `body`, and whether the deadline cancelled it.
  private static func withDeadline<Result>(
    of call: Call, for method: String, _ body: (UnsafeMutablePointer<GCancellable>) -> Result
  ) throws(BusFailure) -> (Result, isOutOfTime: Bool) {
    _ = try call.milliseconds(for: method)
    let cancellable = call.cancelling
    let timer = DispatchSource.makeTimerSource(queue: timing)
    let (seconds, attoseconds) = call.remaining.components
    timer.schedule(
      deadline: .now()
        + .nanoseconds(
          Int(clamping: seconds * 1_000_000_000 + attoseconds / 1_000_000_000)))
    let hasRunOut = Lock(false)
    timer.setEventHandler {
      hasRunOut.withLock { $0 = true }
      cancellable.cancel()
    }
    timer.resume()
    defer { timer.cancel() }
    let result = withExtendedLifetime(cancellable) { unsafe body(cancellable.handle) }
    return (result, hasRunOut.withLock { $0 })
  }

  // MARK: - Calls

  /// Calls a method of the service and waits for the answer.
  ///
  /// The answer is a tuple of `type`; any other answer throws `damaged`.
  func call(
    _ method: Method, at path: ObjectPath, _ parameters: [Variant] = [], as type: String,
    _ call: Call
  ) throws(BusFailure) -> Variant {
    defer { withExtendedLifetime(self) {} }
    return try unsafe Self.invoke(
      method, of: owner, at: path, parameters, as: type, on: handle, call)
  }

  private static func invoke(
    _ method: Method, of destination: String, at path: ObjectPath, _ parameters: [Variant],
    as type: String, on connection: OpaquePointer, _ call: Call
  ) throws(BusFailure) -> Variant {
    let milliseconds = try call.milliseconds(for: method.name)
    let arguments = Variant.tuple(parameters)
    var error: UnsafeMutablePointer<GError>?
    let answer = unsafe withExtendedLifetime((arguments, call)) {
      unsafe g_dbus_connection_call_sync(
        connection, destination, path.text, method.interface, method.name, arguments.handle,
        sps_variant_type(type), G_DBUS_CALL_FLAGS_NONE, milliseconds, call.cancelling.handle,
        &error)
    }
    guard let answer = unsafe answer else {
      throw unsafe BusFailure(
        adopting: error, of: method.name, isOutOfTime: call.remaining == .zero)
    }
    return unsafe Variant(adopting: answer)
  }

  /// A method of an interface.
  struct Method {
    let interface: String
    let name: String

    static func service(_ name: String) -> Method { Method("Service", name) }
    static func collection(_ name: String) -> Method { Method("Collection", name) }
    static func item(_ name: String) -> Method { Method("Item", name) }
    static func prompt(_ name: String) -> Method { Method("Prompt", name) }
    static func bus(_ name: String) -> Method {
      Method(interface: "org.freedesktop.DBus", name: name)
    }
    static func properties(_ name: String) -> Method {
      Method(interface: "org.freedesktop.DBus.Properties", name: name)
    }

    private init(_ interface: String, _ name: String) {
      self.init(interface: "org.freedesktop.Secret." + interface, name: name)
    }

    private init(interface: String, name: String) {
      self.interface = interface
      self.name = name
    }
  }

  // MARK: - Secrets

  /// The session under whose key secrets cross the bus.
  var sessionPath: ObjectPath {
    defer { withExtendedLifetime(self) {} }
    // `openSession` asked for the session, which stays as long as the connection.
    let path = unsafe secret_service_get_session_dbus_path(service)
    return unsafe path.map { unsafe ObjectPath(text: SystemText.shown($0)) } ?? .none
  }

  /// Whether secrets cross the bus encrypted.
  ///
  /// libsecret falls back to `plain` by itself if the service does not know its key exchange:
  /// https://gnome.pages.gitlab.gnome.org/libsecret/method.Service.get_session_algorithms.html
  var isEncrypted: Bool {
    defer { withExtendedLifetime(self) {} }
    guard let algorithms = unsafe secret_service_get_session_algorithms(service) else {
      return false
    }
    return unsafe SystemText.shown(algorithms) != "plain"
  }

  /// A secret as it crosses the bus: encrypted under the session's key, where the service can.
  func encode(_ secret: RawSpan, contentType: String) throws(BusFailure) -> Variant {
    guard secret.byteCount <= Variant.longestSecret else {
      throw BusFailure(.invalid, "the keyring takes secrets of at most 32 MiB")
    }
    defer { withExtendedLifetime(self) {} }
    let encoded = unsafe coding.withLock { _ in
      unsafe secret.withUnsafeBytes { bytes -> OpaquePointer? in
        // The base address of an empty buffer may be nil.
        let value = unsafe sps_secret_value_new(
          bytes.baseAddress ?? UnsafeRawPointer(service), bytes.count, contentType)
        defer { unsafe secret_value_unref(UnsafeMutableRawPointer(value)) }
        return unsafe secret_service_encode_dbus_secret(service, value)
      }
    }
    guard let encoded = unsafe encoded else {
      throw BusFailure(.io, "the secret could not be encrypted for the bus")
    }
    return unsafe Variant(floating: encoded)
  }

  /// The secret that crossed the bus.
  ///
  /// - Throws: of the kind `foreignKey` when it was not encrypted for this session.
  func decode(_ encoded: Variant) throws(BusFailure) -> ReceivedSecret {
    defer { withExtendedLifetime(self) {} }
    let value = unsafe coding.withLock { _ in
      unsafe withExtendedLifetime(encoded) {
        unsafe secret_service_decode_dbus_secret(service, encoded.handle)
      }
    }
    guard let value = unsafe value else { throw .foreignKey }
    return unsafe ReceivedSecret(value)
  }
}

/// A secret in libsecret's own memory, which is locked, and wiped when it is released.
@safe
final class ReceivedSecret: @unchecked Sendable {
  // A SecretValue never changes and counts its references atomically.
  private let value: OpaquePointer

  fileprivate init(_ value: OpaquePointer) { unsafe self.value = value }

  deinit { unsafe secret_value_unref(UnsafeMutableRawPointer(value)) }

  /// The kind of bytes, as the program that stored them said.
  var contentType: String {
    defer { withExtendedLifetime(self) {} }
    return unsafe SystemText.shown(secret_value_get_content_type(value))
  }

  /// Lends the bytes.
  func withBytes<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { withExtendedLifetime(self) {} }
    var count: gsize = 0
    let start = unsafe secret_value_get(value, &count)
    return try body(
      unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: start, count: Int(count))))
  }

  /// Whether there are no bytes.
  var isEmpty: Bool { withBytes { $0.isEmpty } }

  /// A copy in ordinary memory, for bytes that are sealed or public.
  var copied: [UInt8] { withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } } }
}
