internal import CryptoCore
internal import Dispatch
public import Synchronization

/// All live values of one place, and the one observer that keeps them in step with it.
///
/// A notice comes under the delegate's lock. It is matched by the hash of its name, so it costs a
/// look-up however many live values there are; the value is marked, and a queue of the hub's own brings
/// it up to date later, unless a reader is first.
@usableFromInline
final class LiveHub: Sendable {
  /// What is shared: one object for each key and type.
  struct Key: Hashable, Sendable {
    /// The bytes of the name, since `String` compares without regard to normalisation.
    let name: [UInt8]
    let type: ObjectIdentifier
  }

  struct State {
    var nodes: [Key: LiveNode] = [:]
    /// The nodes whose names are hashed as `space` says.
    var index: [NameHash: [LiveNode]] = [:]
    var space: OpenKeys.NameSpace?
    /// How many notices there were of which nobody could tell whose they are.
    var doubts = 0
    var dirty: [LiveNode] = []
    var isScheduled = false
    var observation: ChangeObservation?
    var isStarting = false
  }

  let store: SealedStore
  let state = Lock(State())
  /// Whether a notice came of which nobody could tell whose it is: the keys were changed.
  @usableFromInline let isDoubtful = Atomic<Bool>(false)
  private let queue = DispatchQueue(label: "SecurePropertyStorage.live")

  init(_ store: SealedStore) { self.store = store }

  // MARK: - Values

  /// The value of a key and type; made by `make` in the same step if there is none.
  func value<Value>(
    _ name: RecordName, _ make: (LiveNode) -> LiveValue<Value>
  ) -> LiveValue<Value> {
    let key = Key(name: Array(name.text.utf8), type: ObjectIdentifier(Value.self))
    let value = state.withLock { state in
      if let value = unsafe state.nodes[key]?.target as? LiveValue<Value> { return value }
      // One that is being released finds another in its place, and leaves that.
      let node = LiveNode(name, key)
      let value = make(node)
      unsafe node.target = value
      state.nodes[key] = node
      return value
    }
    start()
    return value
  }

  /// Forgets a value that is released; the last one ends the observation.
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

  /// Begins to observe, if nobody does.
  private func start() {
    let isFirst = state.withLock { state in
      guard state.observation == nil, !state.isStarting, !state.nodes.isEmpty else { return false }
      state.isStarting = true
      return true
    }
    guard isFirst else { return }
    let observation = store.observe { [self] change in take(change) }
    let unused = state.withLock { state -> ChangeObservation? in
      state.isStarting = false
      guard !state.nodes.isEmpty else { return observation }
      state.observation = observation
      // What another thread has read meanwhile, nobody has followed.
      for node in state.nodes.values { node.note(.look) }
      return nil
    }
    withExtendedLifetime(unused) {}
  }

  /// Has a value read anew that was written while nothing is observed.
  func noteUnobservedWrite(_ node: LiveNode) {
    if state.withLock({ $0.observation == nil }) { node.note(.look) }
  }

  // MARK: - Notices

  /// Called under the delegate's lock, in the order of the changes.
  private func take(_ change: RecordChange) {
    let open = store.keys.current
    let isWaking = state.withLock { state in
      guard !state.nodes.isEmpty else { return false }
      if let nodes = state.index[change.name] {
        for node in nodes { node.note(.change(change)) }
        let others = nodes.filter { !$0.isWrittenHere }
        if others.isEmpty { return false }
        state.queue(others)
      } else if let open, open.nameSpace === state.space,
        !store.isHeaded || change.headerVersion == open.headerVersion
      {
        return false  // of a key that nobody has a live value of
      } else {
        state.doubts += 1
        isDoubtful.store(true, ordering: .releasing)
      }
      return state.schedule()
    }
    if isWaking { wake() }
  }

  /// Runs `body` later, on the queue.
  func perform(after delay: DispatchTimeInterval, _ body: @escaping @Sendable () -> Void) {
    queue.asyncAfter(deadline: .now() + delay, execute: body)
  }

  private func wake() { queue.async { [self] in follow() } }

  /// Brings up to date what has notices; on the queue.
  private func follow() {
    while true {
      if isDoubtful.load(ordering: .acquiring) { settleDoubts() }
      let dirty = state.withLock { state in
        defer { state.dirty = [] }
        for node in state.dirty { unsafe node.isDirty = false }
        if state.dirty.isEmpty, !isDoubtful.load(ordering: .acquiring) { state.isScheduled = false }
        return state.isScheduled ? state.dirty : nil
      }
      guard let dirty else { return }
      for node in dirty { unsafe node.target?.settle() }
    }
  }

  // MARK: - Names

  /// Has notices of a node's record find it, from now on.
  ///
  /// A store that is new has no hashes yet: its first write is a notice of which nobody can tell whose
  /// it is.
  func bind(_ node: LiveNode) throws(StorageError) {
    guard let open = try store.keys.forReading() else { return }
    let hash = try node.name.context(in: open).name
    let isBound = state.withLock { state in
      guard state.space === open.nameSpace else { return false }
      state.bind(node, hash)
      return true
    }
    if !isBound { try rebind(open) }
  }

  /// Finds out what the notices were of which nobody could tell whose they are.
  func settleDoubts() {
    let doubts = state.withLock { $0.doubts }
    do throws(StorageError) {
      try rebind(try store.keys.refresh())
      lookAgainAtFailed()
    } catch {
      noteAll(.failed(error))
    }
    state.withLock { state in
      if state.doubts == doubts { isDoubtful.store(false, ordering: .releasing) }
    }
  }

  /// Hashes all names as `open` does, and has all read anew, unless they are hashed so already.
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
        // A name that can't be has no record, and its reader is told.
        do throws(StorageError) {
          hashes.append((node, try node.name.context(in: open).name))
        } catch {}
      }
    }
    let isWaking = state.withLock { state in
      for node in nodes { state.unbind(node) }
      state.space = open?.nameSpace
      for (node, hash) in hashes { state.bind(node, hash) }
      // In the same step: whoever finds all bound relies on this.
      for node in state.nodes.values { node.note(.look) }
      state.queue(state.nodes.values)
      return state.schedule()
    }
    if isWaking { wake() }
  }

  /// Has those read that could not be read before, or have notices anyway.
  private func lookAgainAtFailed() {
    let isWaking = state.withLock { state in
      let nodes = state.nodes.values.filter { $0.attention.load(ordering: .acquiring) }
      for node in nodes { node.note(.look) }
      state.queue(nodes)
      return state.schedule()
    }
    if isWaking { wake() }
  }

  private func noteAll(_ notice: LiveNode.Notice) {
    let isWaking = state.withLock { state in
      for node in state.nodes.values { node.note(notice) }
      state.queue(state.nodes.values)
      return state.schedule()
    }
    if isWaking { wake() }
  }
}

extension LiveHub.State {
  /// Has values brought up to date by the queue, each once.
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
