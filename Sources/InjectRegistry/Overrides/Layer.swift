internal import Synchronization

/// Registrations of one storage that a task, and the tasks that it starts, see before all others.
final class Layer: @unchecked Sendable {
  // All properties are constants, except `results`, which `lock` guards.

  /// The innermost layer of the current task, of any storage.
  @TaskLocal static var current: Layer?
  /// How many layers are alive: if none is, nobody has to look at the task.
  private static let alive = Atomic<Int>(0)

  let storage: InjectStorage
  let registry = Registry(isLayer: true)
  let outer: Layer?
  /// The next layer of the same storage.
  let below: Layer?
  /// The depth: 1 for the outermost layer of its storage.
  let depth: Int
  /// Whether instances of registrations further out are built anew for this layer.
  let isFresh: Bool
  /// If set, registrations further out must not be used; the handler takes each violation.
  let strictHandler: (@Sendable (InjectError) -> Void)?
  private let lock = InjectLock()
  // Guarded by `lock`.
  private var results = ResultTable()
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

  // A task may outlive the call that made the layer, and keeps the layer alive. So the override
  // ends with the last reference, and not with the call.
  deinit {
    Layer.alive.subtract(1, ordering: .relaxed)
    Activity.end()
  }

  /// The innermost layer of the current task that belongs to a storage.
  static func innermost(of storage: InjectStorage) -> Layer? {
    innermost(of: ObjectIdentifier(storage))
  }

  /// The same, by the identity of the storage, so that a read need not retain the storage.
  static func innermost(of storage: ObjectIdentifier) -> Layer? {
    guard alive.load(ordering: .relaxed) > 0, let layer = current else { return nil }
    if layer.storageID == storage { return layer }
    var outer = layer.outer
    while let other = outer, other.storageID != storage { outer = other.outer }
    return outer
  }

  /// A number that grows with every change that could alter a result.
  var version: Int { registry.version &+ (below?.version ?? storage.registry.version) }

  /// The result of a node's read, if nothing has changed since.
  func result(for node: AnyNode) -> CachedResult? {
    let version = version
    lock.lock()
    defer { lock.unlock() }
    return results.result(for: ObjectIdentifier(node), version)
  }

  /// Keeps the result of a node's read.
  func keep(_ result: CachedResult, for node: AnyNode, version: Int) {
    // It is kept by the node's address, so only nodes that live as long as their storage have one.
    guard node.key.session == nil else { return }
    let old = lock.withLock { results.keep(result, for: ObjectIdentifier(node), version) }
    withExtendedLifetime(old) {}
  }

  /// The layer of this storage at a depth, from this one outwards.
  func layer(at depth: Int) -> Layer? {
    var layer: Layer? = self
    while let current = layer, current.depth > depth { layer = current.below }
    return layer?.depth == depth ? layer : nil
  }
}
