internal import CryptoCore
internal import Dispatch
internal import StorageCore

/// Tells listeners what any program does to the items of a keyring.
///
/// The service's signals are hints to look: some services send one change many times, and some miss
/// changes. Listeners are told only of differences that were seen.
final class ItemFollower: Sendable {
  /// An event for a listener.
  enum Event: Sendable {
    /// No change after this event is missed.
    case listening
    case change(KeyringChange)
  }

  /// The last seen state of an item.
  fileprivate struct Seen {
    let label: String
    let attributes: [String: String]
    let modified: UInt64
    /// A fingerprint of the secret; nil if the secret was not read, or can't be.
    ///
    /// It never leaves the process, and is not enough to find the secret by.
    var fingerprint: Int?

    /// Whether the item is unchanged.
    ///
    /// `isSignalled` says that the service signalled a change: if nothing else changed and the
    /// secret was not read before, the secret changed.
    func isSame(as other: Seen, isSignalled: Bool) -> Bool {
      guard label == other.label,
        attributes.withoutGenericSchema.isExactly(other.attributes.withoutGenericSchema)
      else { return false }
      guard let fingerprint, let another = other.fingerprint else {
        return !isSignalled && modified == other.modified
      }
      return fingerprint == another
    }
  }

  fileprivate struct Subscription {
    let connection: BusConnection
    let signals: [SignalSubscription]
  }

  fileprivate struct State {
    var nextID = 0
    var listeners: [Int: @Sendable (Event) -> Void] = [:]
    var seen: [ObjectPath: Seen] = [:]
    /// The collections whose items were looked at, without the locked ones.
    var looked: Set<ObjectPath> = []
    /// The collections whose items were ever looked at.
    ///
    /// Items that are found in other collections are not reported as new.
    var known: Set<ObjectPath> = []
    var subscription: Subscription?
  }
  /// An item or a collection that a signal hints at.
  private enum Hint: Hashable {
    case item(ObjectPath, KeyringChange.Kind)
    case collection(ObjectPath)
  }

  private let state = Lock(State())
  private let hints = Lock(SignalHints<Hint>())
  /// The queue that looks at the hints one after the other, apart from the thread of the signals.
  private let looking = DispatchQueue(label: "SecurePropertyStorage.KeyringBackend.items")

  /// Begins to listen, in the background, until the observation is released.
  ///
  /// - Parameters:
  ///   - client: the client of the bus to listen to.
  ///   - listener: called once when listening has begun, and then for each change, in order.
  /// - Returns: the observation; releasing it ends the listening.
  func add(
    _ client: KeyringClient, _ listener: @escaping @Sendable (Event) -> Void
  ) -> ChangeObservation {
    let id = state.withLock { state in
      defer { state.nextID += 1 }
      return state.nextID
    }
    let isOver = Lock(false)
    looking.async { [self] in
      subscribe(client, isWanted: true)
      state.withLock { state in
        isOver.withLock { if !$0 { state.listeners[id] = listener } }
      }
      listener(.listening)
      endIfUnused()
    }
    return ChangeObservation { [self] in
      state.withLock { state in
        isOver.withLock { $0 = true }
        state.listeners[id] = nil
      }
      // Queued behind a listener that begins just now.
      looking.async { [self] in endIfUnused() }
    }
  }

  /// Looks at an item that this process has changed.
  func note(_ path: ObjectPath, by client: KeyringClient) {
    guard !state.withLock({ $0.listeners.isEmpty }) else { return }
    note(client) { $0.add(.item(path, .changed)) }
  }

  private func note(_ client: KeyringClient, _ change: (inout SignalHints<Hint>) -> Void) {
    hints.add(
      on: looking, change,
      then: { [self] in
        subscribe(client, isWanted: false)
        follow(client)
      })
  }

  /// Whether the follower has subscribed to signals.
  var isListening: Bool { state.withLock { $0.subscription != nil } }

  // MARK: - On the queue

  private func endIfUnused() {
    let ended = state.withLock { state -> Subscription? in
      guard state.listeners.isEmpty else { return nil }
      defer {
        state.subscription = nil
        state.seen = [:]
        state.looked = []
        state.known = []
      }
      return state.subscription
    }
    // Outside the lock, since it calls into GLib.
    withExtendedLifetime(ended) {}
  }

  /// Subscribes to the signals of the current connection, and takes the existing items as seen.
  ///
  /// `isWanted` says that somebody is about to listen.
  private func subscribe(_ client: KeyringClient, isWanted: Bool) {
    guard isWanted || !state.withLock({ $0.listeners.isEmpty }) else { return }
    let connection: BusConnection
    // A listener can't take an error; the next reader gets it.
    do throws(BusFailure) { connection = try client.current(Call(.looking)) } catch {
      return retry(client)
    }
    guard state.withLock({ $0.subscription?.connection !== connection }) else { return }
    let items = SignalSubscription(
      on: connection, sender: BusConnection.serviceName,
      interface: "org.freedesktop.Secret.Collection"
    ) { [weak self, weak client] signal in
      guard let self, let client, signal.parameters.count == 1,
        let path = signal.parameters[0].path
      else { return }
      let kind: KeyringChange.Kind = signal.name == "ItemCreated" ? .created : .changed
      note(client) { $0.add(.item(path, kind)) }
    }
    let service = SignalSubscription(
      on: connection, sender: "org.freedesktop.DBus", interface: "org.freedesktop.DBus",
      member: "NameOwnerChanged"
    ) { [weak self, weak client] signal in
      guard let self, let client, signal.parameters.count == 3,
        signal.parameters[0].text == BusConnection.serviceName,
        signal.parameters[2].text?.isEmpty == false
      else { return }
      note(client) { $0.isAll = true }
    }
    let collections = SignalSubscription(
      on: connection, sender: BusConnection.serviceName,
      interface: "org.freedesktop.Secret.Service"
    ) { [weak self, weak client] signal in
      guard let self, let client, signal.parameters.count == 1,
        let path = signal.parameters[0].path
      else { return }
      note(client) { $0.add(.collection(path)) }
    }
    state.withLock {
      $0.subscription = Subscription(
        connection: connection, signals: [items, service, collections])
    }
    // Items that exist when the first listener begins are not reported; after the bus was away,
    // items that differ from before are.
    hints.withLock { $0.isAll = true }
    follow(client)
  }

  /// Looks at the objects that signals named.
  private func follow(_ client: KeyringClient) {
    let hints = hints.take()
    do throws(StorageError) {
      if hints.isAll { try lookAtAll(client) } else { try look(at: hints.hints, client) }
      self.hints.succeeded()
    } catch {
      // The next reader gets the error. A service that does not answer one call is not asked for
      // each of a hundred items.
      retry(client)
    }
  }

  /// Tries again after a while.
  private func retry(_ client: KeyringClient) {
    hints.failed(on: looking) { [weak self, weak client] in
      guard let self, let client else { return }
      subscribe(client, isWanted: false)
      if isListening { follow(client) }
    }
  }

  private func look(at hints: [Hint], _ client: KeyringClient) throws(StorageError) {
    for hint in hints {
      switch hint {
      case .item(let path, let kind): try look(at: path, kind, client)
      case .collection(let path): try look(atCollection: path, client)
      }
    }
  }

  /// Looks at an item.
  ///
  /// The change is reported as `kind` when the items of its collection are not known.
  private func look(
    at path: ObjectPath, _ kind: KeyringChange.Kind, _ client: KeyringClient
  ) throws(StorageError) {
    try client.perform(.looking) { (connection, call) throws(BusFailure) in
      guard let collection = path.collection else { return }
      guard state.withLock({ $0.known.contains(collection) }) else {
        try look(in: collection, isNews: false, connection, call)
        return state.withLock { state in
          guard let seen = state.seen[path] else { return }
          state.tell(KeyringChange(kind, seen.label, seen.attributes))
        }
      }
      // While the collection was locked, or away, anything may have changed in it.
      guard state.withLock({ $0.looked.contains(collection) }) else {
        return try look(in: collection, isNews: true, connection, call)
      }
      if let snapshot = try connection.snapshot(of: path, call) {
        guard !snapshot.isOfStore, !snapshot.isLocked else { return }
        let secrets = try connection.secrets(of: [path], call)
        tell(path, Seen(snapshot, secrets[path]), isSignalled: true)
      } else if try isOpen(collection, connection, call) {
        tellGone(path)
      }
    }
  }

  /// Looks at a collection that a signal named: it may have been locked, unlocked or deleted.
  private func look(
    atCollection path: ObjectPath, _ client: KeyringClient
  ) throws(StorageError) {
    try client.perform(.looking) { (connection, call) throws(BusFailure) in
      guard try connection.collections(call).contains(path) else {
        for item in state.withLock({ $0.seen.keys.filter { $0.isItem(of: path) } }) {
          tellGone(item)
        }
        return state.withLock { _ = $0.looked.remove(path) }
      }
      let (wasLooked, isKnown) = state.withLock {
        ($0.looked.contains(path), $0.known.contains(path))
      }
      guard try isOpen(path, connection, call), !wasLooked else { return }
      try look(in: path, isNews: isKnown, connection, call)
    }
  }

  /// Looks at all items.
  private func lookAtAll(_ client: KeyringClient) throws(StorageError) {
    try client.perform(.looking) { (connection, call) throws(BusFailure) in
      state.withLock { $0.looked = [] }
      for collection in try connection.collections(call) {
        let isKnown = state.withLock { $0.known.contains(collection) }
        try look(in: collection, isNews: isKnown, connection, call)
      }
    }
  }

  /// Looks at all items of an unlocked collection, but at no secret.
  ///
  /// KeePassXC asks its user for each secret, and a listener needs only the secrets of items with a
  /// signalled change.
  private func look(
    in collection: ObjectPath, isNews: Bool, _ connection: BusConnection, _ call: Call
  ) throws(BusFailure) {
    guard try isOpen(collection, connection, call) else { return }
    let items = try connection.items(of: collection, call)
    for path in items {
      guard let snapshot = try connection.snapshot(of: path, call), !snapshot.isOfStore else {
        continue
      }
      var seen = Seen(snapshot, nil)
      if isNews {
        tell(path, seen, isSignalled: false)
      } else {
        state.withLock { state in
          if let before = state.seen[path], before.isSame(as: seen, isSignalled: false) {
            seen.fingerprint = before.fingerprint
          }
          state.seen[path] = seen
        }
      }
    }
    let there = Set(items)
    for path in state.withLock({ $0.seen.keys.filter { $0.isItem(of: collection) } })
    where !there.contains(path) {
      tellGone(path)
    }
    // The collection may have been locked meanwhile, and then have hidden some items.
    if try isOpen(collection, connection, call) {
      state.withLock { state in
        state.looked.insert(collection)
        state.known.insert(collection)
      }
    }
  }

  /// Whether a collection exists and is unlocked: items that a locked one hides were not deleted.
  private func isOpen(
    _ collection: ObjectPath, _ connection: BusConnection, _ call: Call
  ) throws(BusFailure) -> Bool {
    do throws(BusFailure) {
      if try !connection.isLocked(collection, call) { return true }
    } catch {
      guard error.kind == .noObject else { throw error }
    }
    state.withLock { _ = $0.looked.remove(collection) }
    return false
  }

  private func tell(_ path: ObjectPath, _ seen: Seen, isSignalled: Bool) {
    state.withLock { state in
      guard let before = state.seen[path] else {
        state.seen[path] = seen
        return state.tell(KeyringChange(.created, seen.label, seen.attributes))
      }
      let isSame = before.isSame(as: seen, isSignalled: isSignalled)
      state.seen[path] = seen
      if isSame, seen.fingerprint == nil { state.seen[path]?.fingerprint = before.fingerprint }
      guard !isSame else { return }
      state.tell(KeyringChange(.changed, seen.label, seen.attributes, before: before.attributes))
    }
  }

  private func tellGone(_ path: ObjectPath) {
    state.withLock { state in
      guard let before = state.seen.removeValue(forKey: path) else { return }
      state.tell(KeyringChange(.deleted, before.label, before.attributes))
    }
  }
}

extension ItemFollower.State {
  /// Called under the lock, so that all listeners get the same order; a listener only stores the
  /// change.
  fileprivate func tell(_ change: KeyringChange) {
    for listener in listeners.values { listener(.change(change)) }
  }
}

extension ItemFollower.Seen {
  fileprivate init(_ snapshot: ItemSnapshot, _ secret: ReceivedSecret?) {
    let fingerprint = secret.map { secret in
      var hasher = Hasher()
      secret.withBytes { span in
        unsafe span.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
      }
      return hasher.finalize()
    }
    self.init(
      label: snapshot.label, attributes: snapshot.attributes, modified: snapshot.modified,
      fingerprint: fingerprint)
  }
}

extension KeyringAccess {
  /// For following other programs' changes: nobody asked for a prompt, and nobody waits.
  fileprivate static let looking = KeyringAccess(deadline: .seconds(60), prompts: .never)
}
