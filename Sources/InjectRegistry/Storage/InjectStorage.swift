internal import Synchronization

/// Where dependencies are registered, and found.
///
/// A program has one, ``standard``, which `@Register` and `@Inject` use. It may be used from any
/// thread and task; no lock is held while a builder or a closure runs.
public final class InjectStorage: @unchecked Sendable {
  // Constants that guard what they hold, but for the last two, which `lock` guards.

  /// The storage of `@Register` and `@Inject`.
  public static let standard = InjectStorage()

  let registry = Registry(isLayer: false)
  @usableFromInline let table = NodeTable()
  private let lock = InjectLock()
  // Guarded by `lock`; nodes are never removed, so what keeps one may use it without the lock.
  private var nodes: [NodeKey: AnyNode] = [:]
  private var places: [ObjectIdentifier: InjectLocation] = [:]

  /// An empty storage, for the calls alone: properties use ``standard``.
  ///
  /// A builder that captures the storage keeps it: capture it `unowned`, or call ``removeAll()``.
  public init() {}

  /// Takes the errors of injected properties, which can't throw, and may register what was not
  /// found.
  ///
  ///     InjectStorage.standard.errorClosure = { error in
  ///       if case InjectError.notFound = error { Client.register() }
  ///     }
  ///
  /// For `notFound` it is called by every way to resolve, and the search is then made once more. It
  /// runs on the calling thread; others that miss the same wait until it is done. Inside overrides,
  /// setting it sets that of the overrides alone. nil, as at first, reports to
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

  /// Where a registration made now goes to.
  var currentRegistry: Registry { Layer.innermost(of: self)?.registry ?? registry }

  /// Adds a registration.
  func add(_ registration: AnyRegistration) {
    change(nodes: { $0.key.entry.type == registration.key.type }, { $0.add(registration) })
  }

  /// Changes what is registered, or what is kept, for the current task.
  ///
  /// Nodes look anew from before the change on: after it, one reader could find what is new, and
  /// then another node, or the same, that still has what is old.
  ///
  /// - Parameters:
  ///   - isChosen: whether what a node has found may change.
  ///   - body: makes the change, and returns what it drops.
  private func change(
    nodes isChosen: (AnyNode) -> Bool = { _ in true }, _ body: (Registry) -> [Any]
  ) {
    let registry = currentRegistry
    guard registry === self.registry else { return withExtendedLifetime(body(registry)) {} }
    registry.beginChange()
    let forgotten = lock.withLock({ nodes.values.filter(isChosen) }).map { $0.forget() }
    let dropped = body(registry)
    registry.endChange()
    // Only now: a deinit may take long, and nothing is kept for readers while something changes.
    withExtendedLifetime((forgotten, dropped)) {}
  }

  /// The node of what an injection asks for.
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
      if let node = nodes[key] { return unsafe unsafeDowncast(node, to: Node<Dependency>.self) }
      let node = Node<Dependency>(self, key, qualifiers, parameters?.type)
      nodes[key] = node
      if let location { places[ObjectIdentifier(node)] = location }
      if qualifiers.isEmpty, scope == nil, group == nil, parameters == nil {
        table.add(node, of: ObjectIdentifier(Dependency.self))
      }
      return node
    }
  }

  /// All injections that were seen so far, with the place of the first of each, by place.
  var injections: [(node: AnyNode, location: InjectLocation)] {
    let injections = lock.withLock {
      nodes.values.compactMap { node in
        places[ObjectIdentifier(node)].map { (node: node, location: $0) }
      }
    }
    return injections.sorted { $0.location.description < $1.location.description }
  }

  /// Ends a session: its instances are given up, and built anew when they are needed.
  ///
  /// Inside overrides this is about the instances of the overrides alone.
  public func resetSession(_ name: String) {
    change { $0.dropInstances { $0 == .session(name) } }
  }

  /// Gives up all instances that builders have made; what is registered stays.
  ///
  /// They are built anew when they are needed. Inside overrides this is about those of the
  /// overrides alone. A value that was registered is not built, and stays.
  public func reset() {
    change { $0.dropInstances { _ in true } }
  }

  /// Removes all that is registered; inside overrides, all that was registered there.
  public func removeAll() {
    change { $0.removeAll() }
  }
}
