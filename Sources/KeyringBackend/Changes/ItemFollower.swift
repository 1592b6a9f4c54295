internal import CryptoCore
internal import Dispatch
internal import StorageCore

/// Reports what any program does to the items of a keyring: differences that were seen.
final class ItemFollower: SignalListener {
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
  }
  private let state = Lock(State())
  /// Nobody asked for a prompt, and nobody waits.
  let access = KeyringAccess(deadline: .seconds(60), prompts: .never)

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
    client.signals.queue.async { [self] in
      // Those that listen already have seen the items.
      if state.withLock({ $0.listeners.isEmpty }) || !client.signals.isListening {
        client.signals.begin(self, client)
      }
      state.withLock { state in
        isOver.withLock { if !$0 { state.listeners[id] = listener } }
      }
      listener(.listening)
      endIfUnused(client)
    }
    return ChangeObservation { [self] in
      state.withLock { state in
        isOver.withLock { $0 = true }
        state.listeners[id] = nil
      }
      // Queued behind a listener that begins just now.
      client.signals.queue.async { [self] in endIfUnused(client) }
    }
  }

  // MARK: - On the queue

  private func endIfUnused(_ client: KeyringClient) {
    let isUnused = state.withLock { state in
      guard state.listeners.isEmpty else { return false }
      (state.seen, state.looked, state.known) = ([:], [], [])
      return true
    }
    if isUnused { withExtendedLifetime(client.signals.end(self)) {} }
  }

  func look(
    _ look: SignalLook, _ connection: BusConnection, _ call: Call
  ) throws(BusFailure) {
    switch look {
    // Items that exist when the first listener begins are not reported.
    case .first, .all: try lookAtAll(connection, call)
    case .item(let path, let kind): try self.look(at: path, kind, connection, call)
    case .collection(let path): try self.look(atCollection: path, connection, call)
    }
  }

  /// Looks at an item.
  ///
  /// The change is reported as `kind` when the items of its collection are not known.
  private func look(
    at path: ObjectPath, _ kind: KeyringChange.Kind, _ connection: BusConnection, _ call: Call
  ) throws(BusFailure) {
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

  /// Looks at a collection that a signal named: it may have been locked, unlocked or deleted.
  private func look(
    atCollection path: ObjectPath, _ connection: BusConnection, _ call: Call
  ) throws(BusFailure) {
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

  /// Looks at all items.
  private func lookAtAll(_ connection: BusConnection, _ call: Call) throws(BusFailure) {
    state.withLock { $0.looked = [] }
    for collection in try connection.collections(call) {
      let isKnown = state.withLock { $0.known.contains(collection) }
      try look(in: collection, isNews: isKnown, connection, call)
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
