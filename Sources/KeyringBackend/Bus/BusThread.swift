internal import CLibsecret
internal import CryptoCore
internal import Dispatch
internal import StorageCore

/// The thread on which signals of the bus arrive.
///
/// Nothing else runs on it, so that a prompt is never missed; handlers move their work elsewhere.
@safe
final class BusThread: @unchecked Sendable {
  // A GMainContext may be used by many threads; this one lives as long as the process.
  private let context: OpaquePointer
  private let waiting = Lock<[@Sendable () -> Void]>([])

  static let shared = BusThread()

  private init() {
    unsafe context = g_main_context_new()
    let box = unsafe ContextBox(context: context)
    DetachedThread.start("SPS keyring") {
      unsafe g_main_context_push_thread_default(box.context)
      let loop = unsafe g_main_loop_new(box.context, 0)
      unsafe g_main_loop_run(loop)
    }
  }

  /// Runs `body` on the thread and waits for it; it must not block.
  func perform(_ body: @escaping @Sendable () -> Void) {
    guard unsafe g_main_context_is_owner(context) == 0 else { return body() }
    let isDone = DispatchSemaphore(value: 0)
    // Under a lock of ours and not as GLib's user data: Thread Sanitizer does not see GLib's locks.
    waiting.withLock {
      $0.append {
        body()
        isDone.signal()
      }
    }
    unsafe g_main_context_invoke_full(
      context, G_PRIORITY_DEFAULT,
      { pointer in
        unsafe Unmanaged<BusThread>.fromOpaque(pointer!).takeUnretainedValue().performNext()
        return 0
      }, Unmanaged.passUnretained(self).toOpaque(), nil)
    isDone.wait()
  }

  private func performNext() {
    let body = waiting.withLock { $0.removeFirst() }
    body()
  }

  /// Hands the context to the thread that runs it.
  @safe
  private struct ContextBox: @unchecked Sendable {
    // The same pointer as `BusThread.context`, with the same guarantees.
    let context: OpaquePointer
  }
}

/// A subscription to signals of a connection, until it is released.
@safe
final class SignalSubscription: @unchecked Sendable {
  // Set once, on the bus thread, before `init` returns; any thread may unsubscribe.
  private var number: guint = 0
  private let connection: BusConnection

  /// A received signal.
  struct Signal: Sendable {
    let path: ObjectPath
    let name: String
    let parameters: Variant
  }

  /// Calls `handler`, on the bus thread, for each signal; it must not block.
  ///
  /// - Parameters:
  ///   - connection: whose signals.
  ///   - sender: the name whose owner sends them.
  ///   - interface: the interface.
  ///   - member: the name of the signal, or nil for all.
  ///   - path: the object, or nil for all.
  ///   - handler: the closure that is called.
  init(
    on connection: BusConnection, sender: String, interface: String, member: String? = nil,
    path: ObjectPath? = nil, _ handler: @escaping @Sendable (Signal) -> Void
  ) {
    self.connection = connection
    BusThread.shared.perform { [self] in
      unsafe number = g_dbus_connection_signal_subscribe(
        connection.handle, sender, interface, member, path?.text, nil, G_DBUS_SIGNAL_FLAGS_NONE,
        { _, _, path, _, name, parameters, handler in
          guard let path = unsafe path, let name = unsafe name, let parameters = unsafe parameters
          else { return }
          let signal = Signal(
            path: ObjectPath(text: unsafe SystemText.shown(path)),
            name: unsafe SystemText.shown(name),
            parameters: unsafe Variant(adopting: g_variant_ref(parameters)))
          unsafe Unmanaged<Handler>.fromOpaque(handler!).takeUnretainedValue().call(signal)
        }, Unmanaged.passRetained(Handler(handler)).toOpaque(),
        { pointer in unsafe Unmanaged<Handler>.fromOpaque(pointer!).release() })
    }
  }

  deinit {
    // Unsubscribing would wait for threads that a child of fork(2) lacks.
    guard !KeyringClient.isInChild else { return }
    unsafe g_dbus_connection_signal_unsubscribe(connection.handle, number)
  }

  private final class Handler: Sendable {
    let call: @Sendable (Signal) -> Void

    init(_ call: @escaping @Sendable (Signal) -> Void) { self.call = call }
  }
}
