internal import CryptoCore
internal import Dispatch
internal import StorageCore

/// Tells the observers of a store about writes of this process and of other programs.
final class KeyringFollower: Sendable {
  /// What observers were told last, as far as it is needed to find changes.
  private struct Told {
    /// A fingerprint of each name's last reported record; no entry for a name without a record.
    var records: [NameHash: Int] = [:]
    /// The name of each item that was seen.
    var names: [ObjectPath: NameHash] = [:]
    /// Names that this process has written since the current look began.
    ///
    /// A record that the look read before such a write is out of date and is skipped.
    var written: Set<NameHash> = []
    var subscription: Subscription?
  }

  private struct Subscription {
    let connection: BusConnection
    let signals: [SignalSubscription]
    let service: ServiceWatch
  }

  private let client: KeyringClient
  private let store: KeyringStore
  private let changes = ChangeObservers()
  private let told = Lock(Told())
  private let hints = Lock(SignalHints<ObjectPath>())
  /// The queue that looks at the hints one after the other, apart from the thread of the signals.
  private let looking = DispatchQueue(label: "SecurePropertyStorage.KeyringBackend")

  init(client: KeyringClient, store: KeyringStore) {
    self.client = client
    self.store = store
  }

  /// Adds an observer until the observation is released.
  func add(_ observer: @escaping @Sendable (RecordChange) -> Void) -> ChangeObservation {
    let registration = Lock<ChangeObservation?>(changes.add(observer))
    looking.sync { subscribeIfNeeded() }
    return ChangeObservation { [self] in
      registration.withLock { $0 = nil }
      let ended = told.withLock { told -> Subscription? in
        guard changes.isEmpty else { return nil }
        defer { told = Told() }
        return told.subscription
      }
      withExtendedLifetime(ended) {}
    }
  }

  /// Reports a write of this process; the writer calls it under the store's lock.
  func tell(_ change: RecordChange) {
    guard !changes.isEmpty else { return }
    looking.async { [self] in subscribeIfNeeded() }
    told.withLock { told in
      told.written.insert(change.name)
      tell(change, &told)
    }
  }

  /// Reports that this process has removed all records; called under the store's lock.
  func tellOfDiscarding() {
    told.withLock { told in
      told.written.formUnion(told.records.keys)
      (told.records, told.names) = ([:], [:])
      if !changes.isEmpty { changes.notify(.unknown) }
    }
  }

  private func tell(_ change: RecordChange, _ told: inout Told) {
    let fingerprint = change.record?.hashValue
    guard told.records[change.name] != fingerprint else { return }
    told.records[change.name] = fingerprint
    changes.notify(change)
  }

  // MARK: - On the queue

  /// Subscribes to the signals of the current connection, and looks at the existing records.
  private func subscribeIfNeeded() {
    guard !changes.isEmpty, !hints.withLock({ $0.hasJustFailed }) else { return }
    let call = Call(.following)
    let connection: BusConnection
    // An observer can't take an error; the next reader gets it.
    do throws(BusFailure) { connection = try client.current(call) } catch { return retry() }
    guard subscribe(to: connection) else { return }
    // Existing records are not reported.
    learn()
  }

  /// Subscribes to the signals of a connection, whose service may have changed.
  ///
  /// - Returns: false if this connection was already subscribed.
  @discardableResult
  private func subscribe(to connection: BusConnection) -> Bool {
    guard told.withLock({ $0.subscription?.connection !== connection }) else { return false }
    let signals = SignalSubscription(
      on: connection, sender: connection.owner,
      interface: "org.freedesktop.Secret.Collection"
    ) { [weak self] signal in
      guard let self, signal.parameters.count == 1, let path = signal.parameters[0].path else {
        return
      }
      hints.add(on: looking, { $0.add(path) }, then: self.follow)
    }
    let service = ServiceWatch(on: connection) { [weak self] in
      guard let self else { return }
      hints.add(on: looking, { $0.isAll = true }, then: self.follow)
    }
    let subscription = Subscription(
      connection: connection, signals: [signals], service: service)
    let former = told.withLock { told in
      defer { told.subscription = subscription }
      return told.subscription
    }
    withExtendedLifetime(former) {}
    return true
  }

  /// Takes the existing records as reported.
  private func learn() {
    // An observer can't take an error; the next reader gets it.
    do throws(StorageError) { try takeAsTold() } catch { retry() }
  }

  private func retry() {
    hints.failed(on: looking) { [weak self] in self?.follow() }
  }

  private func takeAsTold() throws(StorageError) {
    try inspect { (connection, call) throws(BusFailure) in
      var records: [NameHash: Int] = [:]
      var names: [ObjectPath: NameHash] = [:]
      try store.visit(connection, call, damaged: .skipped) { path, name, record in
        records[name] = record.hashValue
        names[path] = name
      }
      told.withLock { told in
        told.names = names
        // Records that were reported meanwhile are newer.
        told.records.merge(records) { old, _ in old }
      }
    }
  }

  /// Looks at the items that signals named.
  private func follow() {
    let hints = hints.take()
    do throws(StorageError) {
      if hints.isAll { try lookAtAll() } else { for path in hints.hints { try look(at: path) } }
      self.hints.succeeded()
    } catch {
      // The next reader gets the error. A service that does not answer one call is not asked for
      // each of a hundred items.
      retry()
    }
  }

  /// Looks at all items, after the service was away.
  private func lookAtAll() throws(StorageError) {
    try inspect { (connection, call) throws(BusFailure) in
      subscribe(to: connection)
      told.withLock { $0.written = [] }
      var seen: Set<NameHash> = []
      var changed: Set<NameHash> = []
      try store.visit(connection, call, damaged: .skipped) { path, name, record in
        seen.insert(name)
        let isNews = told.withLock { $0.records[name] != record.hashValue }
        if isNews { changed.insert(name) }
      }
      let gone = told.withLock { told in told.records.keys.filter { !seen.contains($0) } }
      for name in changed.union(gone) { try look(for: name, connection, call) }
    }
  }

  /// Looks at an item that a signal named.
  private func look(at path: ObjectPath) throws(StorageError) {
    try inspect { (connection, call) throws(BusFailure) in
      let known = told.withLock { told in
        told.written = []
        return told.names[path]
      }
      if let known { return try look(for: known, connection, call) }
      let home = store.memory.withLock { $0.home }
      guard home == nil || path.isItem(of: home!.collection), path != home?.header else { return }
      // The item is new: its attributes tell which store it belongs to.
      guard let item = try connection.snapshot(of: path, call),
        item.has(store.item.storeAttributes),
        let secret = try connection.secrets(of: [path], call)[path],
        case .record(_, let name) = SealedItem.content(of: secret),
        // A copy under another name is no record.
        item.has(store.item.attributes(of: name))
      else { return }
      try look(for: name, connection, call)
    }
  }

  /// Looks for the record of a name, and reports it if it has changed or is gone.
  private func look(
    for name: NameHash, _ connection: BusConnection, _ call: Call
  ) throws(BusFailure) {
    // After the third try, our own write has been reported; later foreign changes send their own
    // signals.
    for _ in 0..<3 {
      told.withLock { _ = $0.written.remove(name) }
      let view: KeyringStore.View
      do throws(BusFailure) { view = try store.view(of: name, connection, call) } catch {
        // Other errors are thrown on.
        guard error.kind == .other, [.damaged, .duplicate].contains(error.error.code) else {
          throw error
        }
        // Report a record that nothing opens: a follower of this name then reads it and gets the
        // error.
        told.withLock { told in
          guard !told.written.contains(name) else { return }
          tell(RecordChange(name: name, record: [], headerVersion: nil), &told)
        }
        return
      }
      let isTold = told.withLock { told in
        guard !told.written.contains(name) else { return false }
        if let path = view.path { told.names[path] = name }
        tell(RecordChange(name: name, record: view.record, headerVersion: view.version), &told)
        return true
      }
      if isTold { return }
    }
  }

  private func inspect(
    _ body: (BusConnection, Call) throws(BusFailure) -> Void
  ) throws(StorageError) {
    guard !changes.isEmpty else { return }
    try client.perform(.following, body)
  }
}

extension KeyringAccess {
  /// For following other programs' changes: nobody asked for a prompt.
  fileprivate static let following = KeyringAccess(prompts: .never)
}
