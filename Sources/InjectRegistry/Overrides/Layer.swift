internal import Synchronization

/// Registrations of one storage that a task, and the tasks that it starts, see before all others.
final class Layer: @unchecked Sendable {
  // Constants, but for `answers`, which `lock` guards.

  /// The innermost layer of the current task, of whichever storage.
  @TaskLocal static var current: Layer?
  /// How many are alive, so that nobody looks at the task where none is.
  private static let alive = Atomic<Int>(0)

  let storage: InjectStorage
  let registry = Registry(isLayer: true)
  let outer: Layer?
  /// The next layer of the same storage.
  let below: Layer?
  /// 1 for the outermost one of its storage.
  let depth: Int
  /// Whether instances of what is registered further out are built anew for this layer.
  let isFresh: Bool
  /// Where this is set, what is registered further out is not to be used; takes what was.
  let strictHandler: (@Sendable (InjectError) -> Void)?
  private let lock = InjectLock()
  // Guarded by `lock`.
  private var answers = AnswerTable()
  private let storageID: ObjectIdentifier

  init(
    _ storage: InjectStorage, isFresh: Bool, strictHandler: (@Sendable (InjectError) -> Void)?
  ) {
    self.storage = storage
    storageID = ObjectIdentifier(storage)
    self.isFresh = isFresh
    self.strictHandler = strictHandler
    outer = Layer.current
    below = Layer.innermost(of: storage)
    depth = (below?.depth ?? 0) + 1
    Layer.alive.add(1, ordering: .relaxed)
    Activity.begin()
  }

  // A task may outlive the call that made the layer, and holds it; so the end of the last reference
  // is the end of the override, and not the end of the call.
  deinit {
    Layer.alive.subtract(1, ordering: .relaxed)
    Activity.end()
  }

  /// The innermost layer of the current task that belongs to a storage.
  static func innermost(of storage: InjectStorage) -> Layer? {
    innermost(of: ObjectIdentifier(storage))
  }

  /// The same, by the identity of the storage: a read need not hold that.
  static func innermost(of storage: ObjectIdentifier) -> Layer? {
    guard alive.load(ordering: .relaxed) > 0, let layer = current else { return nil }
    if layer.storageID == storage { return layer }
    var outer = layer.outer
    while let other = outer, other.storageID != storage { outer = other.outer }
    return outer
  }

  /// A number that grows with every change that could alter an answer.
  var version: Int { registry.version &+ (below?.version ?? storage.registry.version) }

  /// What a read of a node found, if nothing has changed since.
  func answer(for node: AnyNode) -> Answer? {
    let version = version
    lock.lock()
    defer { lock.unlock() }
    return answers.answer(for: ObjectIdentifier(node), version)
  }

  /// Keeps what a read of a node found.
  func keep(_ answer: Answer, for node: AnyNode, version: Int) {
    let old = lock.withLock { answers.keep(answer, for: ObjectIdentifier(node), version) }
    withExtendedLifetime(old) {}
  }

  /// The layer of this storage at a depth, from this one outwards.
  func layer(at depth: Int) -> Layer? {
    var layer: Layer? = self
    while let current = layer, current.depth > depth { layer = current.below }
    return layer?.depth == depth ? layer : nil
  }
}
