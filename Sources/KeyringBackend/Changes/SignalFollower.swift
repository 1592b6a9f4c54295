internal import CryptoCore
internal import Dispatch
internal import StorageCore

/// Somebody who looks at what the signals of a bus name.
protocol SignalListener: AnyObject, Sendable {
  /// How long a look may take.
  var access: KeyringAccess { get }

  /// Looks at an object, or at everything that it follows.
  ///
  /// - Throws: what keeps it from looking; all listeners look again later.
  func look(
    _ look: SignalLook, _ connection: BusConnection, _ call: Call
  ) throws(BusFailure)
}

/// What a listener is to look at.
enum SignalLook: Hashable {
  /// Everything, for the first time: what is found is no change.
  case first
  case all
  case item(ObjectPath, KeyringChange.Kind)
  case collection(ObjectPath)
}

/// Follows the signals of a client's bus for all listeners: one subscription, one queue, one retry.
///
/// The service's signals are hints to look: some services send one change many times, and some miss
/// changes.
final class SignalFollower: Sendable {
  private struct State {
    var listeners: [ObjectIdentifier: any SignalListener] = [:]
    var connection: BusConnection?
    var signals: [SignalSubscription] = []
    /// What signals named, each once, in the order of the first signals.
    ///
    /// A burst of signals about one item causes one look, and hints don't pile up while the service
    /// is slow.
    var hints: [SignalLook] = []
    var known: Set<SignalLook> = []
    /// Whether a look is queued.
    var isExpected = false
    /// How many looks in a row have failed.
    var failures = 0
    var lastFailure: ContinuousClock.Instant?
    /// Whether another try is already scheduled.
    var isRetrying = false

    var hasJustFailed: Bool {
      lastFailure.map { $0.duration(to: .now) < .seconds(5) } ?? false
    }
  }
  private let state = Lock(State())
  /// The queue that looks at the hints one after the other, apart from the thread of the signals.
  let queue = DispatchQueue(label: "SecurePropertyStorage.KeyringBackend")

  /// Whether it has subscribed to signals.
  var isListening: Bool { state.withLock { $0.connection != nil } }

  /// Adds a listener, and lets it look at what there is.
  ///
  /// If a look failed a moment ago, the listener looks when the next try comes.
  func begin(_ listener: any SignalListener, _ client: KeyringClient) {
    let hasJustFailed = state.withLock { state in
      state.listeners[ObjectIdentifier(listener)] = listener
      return state.hasJustFailed
    }
    if !hasJustFailed { visit([listener], [.first], client) }
  }

  /// Removes a listener; with the last one, the subscription ends.
  ///
  /// - Returns: what ended, to be released outside of locks, since that calls into GLib.
  func end(_ listener: any SignalListener) -> [SignalSubscription] {
    state.withLock { state in
      state.listeners[ObjectIdentifier(listener)] = nil
      guard state.listeners.isEmpty else { return [] }
      defer { (state.connection, state.signals) = (nil, []) }
      return state.signals
    }
  }

  /// Looks at an item that this process has changed.
  func note(_ path: ObjectPath, by client: KeyringClient) {
    note(.item(path, .changed), client)
  }

  /// Subscribes to the current connection, which a call of this process may have changed.
  func refresh(_ client: KeyringClient) {
    queue.async { [self] in
      let (mayTry, isLate) = state.withLock { state in
        (!state.listeners.isEmpty && !state.hasJustFailed, state.connection == nil)
      }
      guard mayTry else { return }
      do throws(BusFailure) {
        subscribe(to: try client.current(Call(KeyringAccess(prompts: .never))), client)
        if isLate { follow(client) }
      } catch {
        retry(client)
      }
    }
  }

  private func note(_ hint: SignalLook, _ client: KeyringClient) {
    let isFirst = state.withLock { state in
      guard !state.listeners.isEmpty else { return false }
      if state.known.insert(hint).inserted { state.hints.append(hint) }
      defer { state.isExpected = true }
      return !state.isExpected
    }
    if isFirst { queue.async { [self] in follow(client) } }
  }

  private func follow(_ client: KeyringClient) {
    let (listeners, looks) = state.withLock { state in
      defer { (state.hints, state.known, state.isExpected) = ([], [], false) }
      let looks = state.known.contains(.all) ? [.all] : state.hints
      return (Array(state.listeners.values), looks)
    }
    visit(listeners, looks, client)
  }

  private func visit(
    _ listeners: [any SignalListener], _ looks: [SignalLook], _ client: KeyringClient
  ) {
    var isDone = true
    for listener in listeners {
      // A listener can't take an error; the next reader gets it.
      do throws(StorageError) {
        for look in looks {
          try client.perform(listener.access) { (connection, call) throws(BusFailure) in
            subscribe(to: connection, client)
            try listener.look(look, connection, call)
          }
        }
      } catch {
        isDone = false
      }
    }
    guard isDone else { return retry(client) }
    state.withLock { ($0.failures, $0.lastFailure) = (0, nil) }
  }

  /// Subscribes to the signals of a connection, unless that was done before.
  private func subscribe(to connection: BusConnection, _ client: KeyringClient) {
    guard state.withLock({ $0.connection !== connection }) else { return }
    let hints: [(String, @Sendable (String, ObjectPath) -> SignalLook)] = [
      ("Collection", { name, path in .item(path, name == "ItemCreated" ? .created : .changed) }),
      ("Service", { _, path in .collection(path) }),
    ]
    var signals = hints.map { interface, hint in
      SignalSubscription(
        on: connection, sender: connection.owner,
        interface: "org.freedesktop.Secret.\(interface)"
      ) { [weak self, weak client] signal in
        guard let self, let client, signal.parameters.count == 1,
          let path = signal.parameters[0].path
        else { return }
        note(hint(signal.name, path), client)
      }
    }
    signals.append(
      .ofOwners(on: connection) { [weak self, weak client] isThere in
        guard let self, let client, isThere else { return }
        note(.all, client)
      })
    let former = state.withLock { state in
      defer {
        if !state.listeners.isEmpty { (state.connection, state.signals) = (connection, signals) }
      }
      return (connection: state.connection, signals: state.signals)
    }
    // What happened while the bus or the service was away was not signalled.
    if former.connection != nil, former.connection !== connection {
      note(.all, client)
    }
  }

  /// Looks at everything after a while, or with the next signal if that comes first.
  ///
  /// After a second at first, then after twice as long each time, up to a minute, since a service
  /// that answers again may send no signal. One attempt is under way at most, whatever fails
  /// meanwhile: a service that does not answer one call is not asked for each of a hundred items.
  private func retry(_ client: KeyringClient) {
    let failures = state.withLock { state -> Int? in
      state.known.insert(.all)
      state.lastFailure = .now
      guard !state.isRetrying else { return nil }
      state.isRetrying = true
      state.failures = min(state.failures + 1, 7)
      return state.failures
    }
    guard let failures else { return }
    queue.asyncAfter(deadline: .now() + .seconds(1 << (failures - 1))) { [weak self, weak client] in
      guard let self, let client else { return }
      state.withLock { $0.isRetrying = false }
      follow(client)
    }
  }
}
