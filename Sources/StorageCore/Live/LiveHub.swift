internal import CryptoCore
internal import Dispatch
public import Synchronization

/// All live values of one place, with the one observer that keeps them up to date.
///
/// A notice arrives under the delegate's lock. The hub matches it by the hash of its name, so a
/// notice costs one look-up, however many live values exist. The hub marks the value; the hub's
/// queue updates the value later, unless a reader does so first.
@usableFromInline
package final class LiveHub: Sendable {
  /// Identifies a shared value: one object for each key and type, apart from owners.
  struct Key: Hashable, Sendable {
    /// The bytes of the name, because `String` comparison ignores normalisation.
    let name: [UInt8]
    let type: ObjectIdentifier
    /// The only property that uses the value; nil if all properties of the key and type do.
    let owner: LiveOwner?
  }

  struct State {
    var nodes: [Key: LiveNode] = [:]
    /// The nodes by the hashes of their names under `space`.
    var index: [NameHash: [LiveNode]] = [:]
    var space: OpenKeys.NameSpace?
    /// The number of notices that could not be matched to a name.
    var doubts = 0
    var dirty: [LiveNode] = []
    var isScheduled = false
    var observation: ChangeObservation?
    var isStarting = false
  }

  /// What the hub observes.
  enum Origin: Sendable {
    /// A store, whose notices name the changed record.
    case store(SealedStore)
    /// One key of a place that only tells that something may have changed.
    case hints(Hints)
  }

  /// Calls its argument after each change that may be of the hub's key.
  ///
  /// A change of this process is told before the call that made it returns. The argument is true
  /// for such a change.
  package typealias Hints =
    @Sendable (@escaping @Sendable (_ isOwn: Bool) -> Void) throws(StorageError)
    -> ChangeObservation

  let origin: Origin
  let state = Lock(State())
  /// Whether a notice arrived that could not be matched to a name, because the keys were changed.
  @usableFromInline let isDoubtful = Atomic<Bool>(false)
  private let queue = DispatchQueue(label: "SecurePropertyStorage.live")

  init(_ store: SealedStore) { origin = .store(store) }

  /// Creates the hub of one key of a place that only tells that something may have changed.
  package init(_ hints: @escaping Hints) { origin = .hints(hints) }

  var store: SealedStore? {
    if case .store(let store) = origin { store } else { nil }
  }

  // MARK: - Values

  /// The value of a key and type; if there is none, it is created in the same locked step.
  func value<Value>(
    of source: any LiveSource<Value>, absent: Value, _ owner: LiveOwner?
  ) -> LiveValue<Value> {
    let name = RecordName(source.name, tag: store?.tag ?? [], isProperty: true)
    let key = Key(
      name: Array(name.text.utf8), type: ObjectIdentifier(Value.self), owner: owner)
    let value = state.withLock { state in
      if let value = unsafe state.nodes[key]?.target as? LiveValue<Value> { return value }
      // A value that is being released finds another node in its place, and leaves that node.
      let node = LiveNode(name, key)
      let value = LiveValue(self, node, source, absent: absent)
      unsafe node.target = value
      state.nodes[key] = node
      return value
    }
    // After an error the next read starts again, and throws the error.
    do throws(StorageError) { try start() } catch {}
    return value
  }

  /// Removes the node of a released value; removing the last one ends the observation.
  func remove(_ node: LiveNode) {
    let ended = state.withLock { state -> ChangeObservation? in
      if state.nodes[node.key] === node { state.nodes[node.key] = nil }
      state.unbind(node)
      guard state.nodes.isEmpty else { return nil }
      defer { state.observation = nil }
      state.space = nil
      return state.observation
    }
    withExtendedLifetime(ended) {}
  }

  /// Starts to observe the place, unless this hub already does.
  private func start() throws(StorageError) {
    let isFirst = state.withLock { state in
      guard state.observation == nil, !state.isStarting, !state.nodes.isEmpty else { return false }
      state.isStarting = true
      return true
    }
    guard isFirst else { return }
    let observation: ChangeObservation
    do throws(StorageError) {
      observation = try observe()
    } catch {
      state.withLock { $0.isStarting = false }
      throw error
    }
    let unused = state.withLock { state -> ChangeObservation? in
      state.isStarting = false
      guard !state.nodes.isEmpty else { return observation }
      state.observation = observation
      // Nobody followed the values that other threads read meanwhile: read them again.
      for node in state.nodes.values { node.note(.look) }
      return nil
    }
    withExtendedLifetime(unused) {}
  }

  private func observe() throws(StorageError) -> ChangeObservation {
    switch origin {
    case .store(let store): store.observe { [self] change in take(change, in: store) }
    case .hints(let hints):
      // Weak, so that the place does not keep the hub. What others did is read on the queue:
      // readers don't wait for that.
      try hints { [weak self] isOwn in self?.note(.look, isUrgent: isOwn) }
    }
  }

  /// Marks a value for a new read if it was written while the hub observed nothing.
  func noteUnobservedWrite(_ node: LiveNode) {
    if state.withLock({ $0.observation == nil }) { node.note(.look) }
  }

  // MARK: - Notices

  /// Called under the delegate's lock, in the order of the changes.
  private func take(_ change: RecordChange, in store: SealedStore) {
    let open = store.keys.current
    let isWaking = state.withLock { state in
      guard !state.nodes.isEmpty else { return false }
      if let nodes = state.index[change.name] {
        for node in nodes { node.note(.change(change)) }
        let others = nodes.filter { !$0.isWrittenHere }
        if others.isEmpty { return false }
        state.queue(others)
      } else if let open, open.nameSpace === state.space,
        change.headerVersion == open.headerVersion
      {
        return false  // no live value has this key
      } else {
        state.doubts += 1
        isDoubtful.store(true, ordering: .releasing)
      }
      return state.schedule()
    }
    if isWaking { wake() }
  }

  /// Gives a notice to all values, or to some, and queues them for an update.
  private func note(
    _ notice: LiveNode.Notice, isUrgent: Bool = true,
    where isMeant: (LiveNode) -> Bool = { _ in true }
  ) {
    let isWaking = state.withLock { state in
      let nodes = state.nodes.values.filter(isMeant)
      for node in nodes { node.note(notice, isUrgent: isUrgent) }
      // Those that this thread is writing are brought up to date by it.
      state.queue(nodes.filter { !$0.isWrittenHere })
      return !state.dirty.isEmpty && state.schedule()
    }
    if isWaking { wake() }
  }

  /// Runs `body` later, on the queue.
  func perform(after delay: DispatchTimeInterval, _ body: @escaping @Sendable () -> Void) {
    queue.asyncAfter(deadline: .now() + delay, execute: body)
  }

  private func wake() { queue.async { [self] in follow() } }

  /// Updates the values that have notices.
  ///
  /// Runs on the queue.
  private func follow() {
    while true {
      if isDoubtful.load(ordering: .acquiring) { resolveDoubts() }
      let dirty = state.withLock { state in
        defer { state.dirty = [] }
        for node in state.dirty { unsafe node.isDirty = false }
        if state.dirty.isEmpty, !isDoubtful.load(ordering: .acquiring) { state.isScheduled = false }
        return state.isScheduled ? state.dirty : nil
      }
      guard let dirty else { return }
      for node in dirty { unsafe node.target?.catchUp() }
    }
  }

  // MARK: - Names

  /// From now on matches notices of a record to its node.
  ///
  /// A new store has no hashes yet, so the notice of its first write can't be matched to a name.
  func bind(_ node: LiveNode) throws(StorageError) {
    guard let store else { return try start() }
    guard let open = try store.keys.forReading() else { return }
    let hash = try node.name.context(in: open).name
    let isBound = state.withLock { state in
      guard state.space === open.nameSpace else { return false }
      state.bind(node, hash)
      return true
    }
    if !isBound { try rebind(open) }
  }

  /// Handles notices that could not be matched to a name.
  func resolveDoubts() {
    let doubts = state.withLock { $0.doubts }
    do throws(StorageError) {
      try rebind(try store?.keys.refresh())
      // Those whose last read failed, or that have a notice.
      note(.look) { $0.attention.load(ordering: .acquiring) }
    } catch {
      note(.failed(error))
    }
    state.withLock { state in
      if state.doubts == doubts { isDoubtful.store(false, ordering: .releasing) }
    }
  }

  /// Hashes all names with the keys `open`, and marks all values for a new read.
  ///
  /// Does nothing if all names are already hashed with these keys.
  private func rebind(_ open: OpenKeys?) throws(StorageError) {
    let nodes = state.withLock { state -> [LiveNode]? in
      let isBound = open?.nameSpace === state.space && open != nil
      return isBound && state.nodes.values.allSatisfy { unsafe $0.hash != nil }
        ? nil : Array(state.nodes.values)
    }
    guard let nodes else { return }
    var hashes: [(LiveNode, NameHash)] = []
    if let open {
      for node in nodes {
        // An invalid name has no record; its reader gets the error.
        do throws(StorageError) {
          hashes.append((node, try node.name.context(in: open).name))
        } catch {}
      }
    }
    let isWaking = state.withLock { state in
      for node in nodes { state.unbind(node) }
      state.space = open?.nameSpace
      for (node, hash) in hashes { state.bind(node, hash) }
      // In the same locked step: a caller that finds all nodes bound relies on these notices.
      for node in state.nodes.values { node.note(.look) }
      state.queue(state.nodes.values)
      return state.schedule()
    }
    if isWaking { wake() }
  }
}

extension LiveHub.State {
  /// Queues nodes for an update, each only once.
  fileprivate mutating func queue(_ nodes: some Sequence<LiveNode>) {
    for node in nodes where unsafe !node.isDirty {
      unsafe node.isDirty = true
      dirty.append(node)
    }
  }

  /// - Returns: whether the queue has to be woken.
  fileprivate mutating func schedule() -> Bool {
    defer { isScheduled = true }
    return !isScheduled
  }

  fileprivate mutating func bind(_ node: LiveNode, _ hash: NameHash) {
    guard nodes[node.key] === node, unsafe node.hash != hash else { return }
    unbind(node)
    unsafe node.hash = hash
    index[hash, default: []].append(node)
  }

  fileprivate mutating func unbind(_ node: LiveNode) {
    guard let hash = unsafe node.hash else { return }
    unsafe node.hash = nil
    index[hash]?.removeAll { $0 === node }
    if index[hash]?.isEmpty == true { index[hash] = nil }
  }
}
