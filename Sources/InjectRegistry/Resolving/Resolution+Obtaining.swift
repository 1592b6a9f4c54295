extension Resolution {
  /// Where the instance of an answer comes from.
  enum Source {
    case instance(Dependency)
    /// A builder, whose instance is for the caller alone.
    case builder
    /// The place that keeps the instance, the depth of the layer that the place belongs to, and the
    /// tree if the place belongs to one.
    case slot(Slot<Dependency>, depth: Int, Graph?)
  }

  /// Decides where the instance of a candidate comes from.
  ///
  /// - Parameters:
  ///   - candidate: what was found.
  ///   - scope: the requested scope, or nil for the registered one.
  /// - Returns: the source of the instance.
  /// - Throws: `wrongScope`, and `liveInTest` in a strict test.
  func source(_ candidate: Candidate, _ scope: InjectScope?) throws(InjectError) -> Source {
    let registration = candidate.registration
    try checkStrictness(candidate)
    let scope = scope ?? registration.scope
    switch registration.maker {
    case .value(let value):
      if scope == .instance, Swift.type(of: value as Any) is AnyClass {
        throw .wrongScope(
          subject, registration, "an object was registered, which is the same at each injection",
          "register a builder, which makes a new object each time: { YourImplementation() }")
      }
      return .instance(value)
    case .parametrised, .asyncParametrised: return .builder
    case .builder, .asyncBuilder: break
    }
    switch scope.kind {
    case .instance: return .builder
    case .graph:
      let graph = chain.graph
      return .slot(graph.slot(for: registration), depth: home(of: candidate), graph)
    case .singleton, .weak, .session:
      let depth = home(of: candidate)
      let registry = layer?.layer(at: depth)?.registry ?? storage.registry
      return .slot(registry.slot(for: registration, scope), depth: depth, nil)
    }
  }

  /// The depth of the layer that an instance of a candidate belongs to.
  ///
  /// That is the layer that registers it, or a layer further in that overrides a dependency of the
  /// builder or has instances of its own.
  private func home(of candidate: Candidate) -> Int {
    guard layer != nil else { return candidate.depth }
    let dependencies = candidate.registration.knownDependencies
    var current = layer
    while let layer = current, layer.depth > candidate.depth {
      if layer.isFresh || layer.registry.registersAny(of: dependencies) { return layer.depth }
      current = layer.below
    }
    return candidate.depth
  }

  /// Refuses registrations beyond a strict layer, unless the test has already failed because of
  /// one.
  private func checkStrictness(_ candidate: Candidate) throws(InjectError) {
    guard !allowsLive else { return }
    var current = layer
    while let layer = current, layer.depth > candidate.depth {
      if let handler = layer.strictHandler, !LiveUse.isAllowed {
        let error = InjectError.liveInTest(subject, path: path, candidate.registration)
        handler(error)
        throw error.reported
      }
      current = layer.below
    }
  }

  /// Keeps an instance in the place that it belongs to.
  ///
  /// If the builder turns out to have used a dependency that a layer overrides, its instance
  /// belongs to that layer, and code that waits in `slot` looks again.
  ///
  /// - Returns: the kept instance.
  func keep(
    _ instance: Dependency, _ build: Build, in slot: Slot<Dependency>, depth: Int,
    _ scope: InjectScope
  ) -> (instance: Dependency, depth: Int) {
    if build.depth > depth, scope != .graph, let inner = layer?.layer(at: build.depth) {
      let kept = inner.registry.slot(for: slot.registration, scope).adopt(instance, build)
      // Added only now, so that nobody looks for the instance there too early.
      slot.registration.add(dependencies: build.dependencies)
      slot.abandon(build)
      return (kept, inner.depth)
    }
    slot.registration.add(dependencies: build.dependencies)
    // A tree belongs to its caller, whose own instance may belong to a layer further in.
    return (slot.finish(build, with: instance), scope == .graph ? max(depth, build.depth) : depth)
  }

  /// An instance that was found in a slot; nil when it turns out to belong to another layer.
  ///
  /// The dependencies of its builder are known only shortly before the instance becomes visible.
  func checked(_ instance: Dependency, _ candidate: Candidate, _ depth: Int) -> (Dependency, Int)? {
    home(of: candidate) == depth ? (instance, depth) : nil
  }

  /// Refuses an instance that can't be kept weakly.
  func checkWeak(
    _ instance: Dependency, _ scope: InjectScope, _ registration: Registration<Dependency>
  ) throws(InjectError) {
    guard scope == .weak, !(Swift.type(of: instance as Any) is AnyClass) else { return }
    throw .wrongScope(
      subject, registration, "only an object can be kept weakly",
      "make it a class or an actor, or register it in another scope")
  }

  /// Refuses to build a dependency that is already being built around the caller.
  ///
  /// A builder with parameters may need itself with other parameters, up to a depth that no
  /// reasonable builder reaches.
  func checkCycle(_ registration: Registration<Dependency>) throws(InjectError) {
    guard !chain.isEmpty else { return }
    let steps = chain.steps
    let same = steps.indices.filter { steps[$0].registration === registration }
    // An async builder need not await a task that it started, so one such step proves nothing.
    let own = parameters == nil ? same.last { steps[$0].isCertain } : nil
    guard let first = own ?? (same.count < 100 ? nil : same.last) else { return }
    throw .cycle(subject, steps[first...].map(\.registration) + [registration])
  }

  /// Whether later reads find the same instance.
  ///
  /// A layer keeps its result until it is read again, which is too long for a session.
  func isLasting(_ scope: InjectScope) -> Bool {
    if case .session = scope.kind { layer == nil } else { scope == .singleton }
  }

  /// Remembers the types of a candidate's instance, which was built after a version.
  func see(_ instance: Dependency, _ candidate: Candidate, _ version: Int) {
    // A layer's instance is released with the layer, a weak one with its last other reference, and
    // one that was built before a reset with the reset.
    let isLasting = layer == nil && candidate.registration.scope != .weak
    candidate.registration.learn(
      from: instance, isKept: { isLasting && self.version == version },
      qualifiers: node.qualifiers)
  }

  /// Keeps the result for later reads.
  func remember(_ candidate: Candidate, _ instance: Dependency?, version: Int) {
    guard candidate.isLasting, parameters == nil, chain.isEmpty, !allowsLive else { return }
    let found: CachedResult
    if let instance {
      let scope = node.key.scope ?? candidate.registration.scope
      // A published instance can't be released, but a session's instance must be at the end of the
      // session.
      found = Instance(
        instance, isPublishable: candidate.registration.isValue || scope == .singleton)
    } else if case .builder(let builder) = candidate.registration.maker {
      found = Fresh(candidate.registration, builder)
    } else {
      return
    }
    if let layer {
      layer.keep(found, for: node, version: version)
    } else {
      node.keep(found, version: version)
    }
  }

  /// The version of all registries that a search looks at.
  var version: Int { layer?.version ?? storage.registry.version }
}
