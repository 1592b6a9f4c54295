internal import Synchronization

/// A place where dependencies are registered and found.
///
/// A program has one, ``standard``, which `@Register` and `@Inject` use. It may be used from any
/// thread and task; no lock is held while a builder or a closure runs.
public final class InjectStorage: @unchecked Sendable {
  // All properties are constants that guard their own content, except the last one, which `lock`
  // guards.

  /// The storage of `@Register` and `@Inject`.
  public static let standard = InjectStorage()

  let registry = Registry(isLayer: false)
  @usableFromInline let table = NodeTable()
  private let lock = InjectLock()
  // Guarded by `lock`. Code that holds a node may use it without the lock.
  private var nodes = NodeSet()

  /// An empty storage, used only by its methods: properties use ``standard``.
  ///
  /// A builder that captures the storage keeps it alive: capture it `unowned`, or call
  /// ``removeAll()``.
  public init() {}

  /// Takes the errors of injected properties, which can't throw, and may register missing
  /// dependencies.
  ///
  ///     InjectStorage.standard.errorClosure = { error in
  ///       if case InjectError.notFound = error { Client.register() }
  ///     }
  ///
  /// Every way to resolve calls it for `notFound`, and then searches once more. It runs on the
  /// calling thread; others that miss the same dependency wait until it is done. Inside overrides,
  /// setting it sets only the overrides' closure. With nil, the initial value, errors go to
  /// ``InjectDiagnostics``.
  public var errorClosure: InjectErrorClosure? {
    get {
      var layer = Layer.innermost(of: self)
      while let current = layer {
        if let closure = current.registry.errorClosure { return closure }
        layer = current.below
      }
      return registry.errorClosure
    }
    set { currentRegistry.errorClosure = newValue }
  }

  /// The registry that takes a registration made now.
  var currentRegistry: Registry { Layer.innermost(of: self)?.registry ?? registry }

  /// Adds a registration.
  func add(_ registration: AnyRegistration) {
    change(
      nodes: { $0.all.filter { $0.key.entry.type == registration.key.type } },
      { $0.add(registration) })
  }

  /// Changes registrations or kept instances, for the current task.
  ///
  /// Nodes forget before the change. If they forgot after it, a reader could find the new instance,
  /// and then the old one in another node or in the same one.
  ///
  /// - Parameters:
  ///   - choose: the nodes whose result may change; called under the lock.
  ///   - endsSessions: whether `choose` also gives up nodes, which then happens inside overrides
  ///     as well. Their results in the storage itself stay.
  ///   - body: makes the change, and returns the dropped objects.
  private func change(
    nodes choose: (inout NodeSet) -> [AnyNode], endsSessions: Bool = false,
    _ body: (Registry) -> [Any]
  ) {
    let registry = currentRegistry
    guard registry === self.registry else {
      let ended = endsSessions ? lock.withLock { choose(&nodes) } : []
      return withExtendedLifetime((ended, body(registry))) {}
    }
    registry.beginChange()
    let chosen = lock.withLock { choose(&nodes) }
    let forgotten = chosen.map { $0.forget() }
    let dropped = body(registry)
    registry.endChange()
    // Released only now: a deinit may take long, and nothing is kept for readers during a change.
    withExtendedLifetime((chosen, forgotten, dropped)) {}
  }

  /// The node of an injection's request.
  func node<Dependency: Sendable>(
    _ type: Dependency.Type, _ qualifiers: [any Any.Type] = [], scope: InjectScope? = nil,
    group: String? = nil, parameters: ParameterBox? = nil, at location: InjectLocation? = nil
  ) -> Node<Dependency> {
    var seen: Set<ObjectIdentifier> = []
    let qualifiers = qualifiers.map { Qualifier(type: $0) }
      .filter { seen.insert($0.id).inserted }
    let key = NodeKey(
      entry: EntryKey(Dependency.self, parameters: parameters?.type.type, group: group),
      qualifiers: qualifiers.map(\.id).sorted(), scope: scope)
    return lock.withLock {
      if let node = nodes.node(of: key) {
        return unsafe unsafeDowncast(node, to: Node<Dependency>.self)
      }
      let node = Node<Dependency>(self, key, qualifiers, parameters?.type)
      nodes.add(node, at: location)
      if qualifiers.isEmpty, scope == nil, group == nil, parameters == nil {
        table.add(node, of: ObjectIdentifier(Dependency.self))
      }
      return node
    }
  }

  /// How many nodes are kept, for tests.
  var nodeCount: Int { lock.withLock { nodes.count } }

  /// All injections seen so far, each with its first place, sorted by place.
  var injections: [(node: AnyNode, location: InjectLocation)] {
    let injections = lock.withLock { nodes.injections }
    return injections.sorted { $0.location.description < $1.location.description }
  }

  /// Ends a session: its instances are released, and built anew when they are needed.
  ///
  /// Nothing of an ended session is kept, so each user may have a session of that user's name.
  /// Inside overrides this affects only the instances of the overrides.
  public func resetSession(_ name: String) {
    change(
      nodes: { $0.end(name) }, endsSessions: true,
      { $0.dropInstances(of: .session(name)) })
  }

  /// Releases all instances that builders have made; registrations stay.
  ///
  /// They are built anew when they are needed. Inside overrides this affects only the overrides'
  /// instances. A registered value is not built, and stays.
  public func reset() {
    change(nodes: { $0.endAll() }, endsSessions: true, { $0.dropInstances() })
  }

  /// Removes all registrations; inside overrides, only those of the overrides.
  public func removeAll() {
    change(nodes: { $0.endAll() }, endsSessions: true, { $0.removeAll() })
  }
}
