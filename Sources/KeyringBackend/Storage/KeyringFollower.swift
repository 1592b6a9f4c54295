internal import CryptoCore
internal import StorageCore

/// Tells the observers of a store about writes of this process and of other programs.
final class KeyringFollower: SignalListener {
  /// What was reported last, as far as it is needed to find changes.
  private struct Reported {
    /// A fingerprint of each name's last reported record; no entry for a name without a record.
    var records: [NameHash: Int] = [:]
    /// The name of each item that was seen.
    var names: [ObjectPath: NameHash] = [:]
    /// Names that this process has written since the current look began.
    ///
    /// A record that the look read before such a write is out of date and is skipped.
    var written: Set<NameHash> = []
    /// Whether the existing records are known.
    var isComplete = false
  }

  private let client: KeyringClient
  private let store: KeyringStore
  private let changes = ChangeObservers()
  private let reported = Lock(Reported())
  /// Nobody asked for a prompt.
  let access = KeyringAccess(prompts: .never)

  init(client: KeyringClient, store: KeyringStore) {
    self.client = client
    self.store = store
  }

  /// Adds an observer until the observation is released.
  func add(_ observer: @escaping @Sendable (RecordChange) -> Void) -> ChangeObservation {
    // Existing records are not reported.
    let (observation, isComplete) = reported.withLock { (changes.add(observer), $0.isComplete) }
    let registration = Lock<ChangeObservation?>(observation)
    if !isComplete { client.signals.begin(self, client) }
    return ChangeObservation { [self] in
      registration.withLock { $0 = nil }
      let ended = reported.withLock { reported -> [SignalSubscription] in
        guard changes.isEmpty else { return [] }
        reported = Reported()
        return client.signals.end(self)
      }
      withExtendedLifetime(ended) {}
    }
  }

  /// Reports a write of this process; the writer calls it under the store's lock.
  func tell(_ change: RecordChange) {
    guard !changes.isEmpty else { return }
    client.signals.refresh(client)
    reported.withLock { reported in
      reported.written.insert(change.name)
      tell(change, &reported)
    }
  }

  /// Reports that this process has removed all records; called under the store's lock.
  func tellOfDiscarding() {
    reported.withLock { reported in
      reported.written.formUnion(reported.records.keys)
      (reported.records, reported.names) = ([:], [:])
      if !changes.isEmpty { changes.notify(.unknown) }
    }
  }

  private func tell(_ change: RecordChange, _ reported: inout Reported) {
    let fingerprint = change.record?.hashValue
    guard reported.records[change.name] != fingerprint else { return }
    reported.records[change.name] = fingerprint
    changes.notify(change)
  }

  // MARK: - On the queue

  func look(
    _ look: SignalLook, _ connection: BusConnection, _ call: Call
  ) throws(BusFailure) {
    guard !changes.isEmpty else { return }
    switch look {
    case .first: try learn(connection, call)
    case .all: try lookAtAll(connection, call)
    case .item(let path, _): try self.look(at: path, connection, call)
    case .collection: break
    }
  }

  /// Takes the existing records as reported.
  private func learn(_ connection: BusConnection, _ call: Call) throws(BusFailure) {
    var records: [NameHash: Int] = [:]
    var names: [ObjectPath: NameHash] = [:]
    try store.visit(connection, call, damaged: .skipped) { path, name, record in
      records[name] = record.hashValue
      names[path] = name
    }
    reported.withLock { reported in
      reported.names = names
      // Records that were reported meanwhile are newer.
      reported.records.merge(records) { old, _ in old }
      reported.isComplete = !changes.isEmpty
    }
  }

  /// Looks at all items, after the service was away.
  private func lookAtAll(_ connection: BusConnection, _ call: Call) throws(BusFailure) {
    reported.withLock { $0.written = [] }
    var seen: Set<NameHash> = []
    var changed: Set<NameHash> = []
    try store.visit(connection, call, damaged: .skipped) { path, name, record in
      seen.insert(name)
      let isNews = reported.withLock { $0.records[name] != record.hashValue }
      if isNews { changed.insert(name) }
    }
    let gone = reported.withLock { reported in reported.records.keys.filter { !seen.contains($0) } }
    for name in changed.union(gone) { try look(for: name, connection, call) }
    reported.withLock { $0.isComplete = !changes.isEmpty }
  }

  /// Looks at an item that a signal named.
  private func look(
    at path: ObjectPath, _ connection: BusConnection, _ call: Call
  ) throws(BusFailure) {
    let known = reported.withLock { reported in
      reported.written = []
      return reported.names[path]
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

  /// Looks for the record of a name, and reports it if it has changed or is gone.
  private func look(
    for name: NameHash, _ connection: BusConnection, _ call: Call
  ) throws(BusFailure) {
    // After the third try, our own write has been reported; later foreign changes send their own
    // signals.
    for _ in 0..<3 {
      reported.withLock { _ = $0.written.remove(name) }
      let view: KeyringStore.View
      do throws(BusFailure) { view = try store.view(of: name, connection, call) } catch {
        // Other errors are thrown on.
        guard error.kind == .other, [.damaged, .duplicate].contains(error.error.code) else {
          throw error
        }
        // Report a record that nothing opens: a follower of this name then reads it and gets the
        // error.
        reported.withLock { reported in
          guard !reported.written.contains(name) else { return }
          tell(RecordChange(name: name, record: [], headerVersion: nil), &reported)
        }
        return
      }
      let isReported = reported.withLock { reported in
        guard !reported.written.contains(name) else { return false }
        if let path = view.path { reported.names[path] = name }
        tell(RecordChange(name: name, record: view.record, headerVersion: view.version), &reported)
        return true
      }
      if isReported { return }
    }
  }
}
