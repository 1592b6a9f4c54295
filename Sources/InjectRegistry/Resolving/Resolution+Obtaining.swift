extension Resolution {
  /// Where the instance of an answer comes from.
  enum Source {
    case instance(Dependency)
    /// A builder, whose instance is for the caller alone.
    case builder
    /// A place where it is kept, the depth of the layer that the place belongs to, and the tree if
    /// the place is of one.
    case slot(Slot<Dependency>, depth: Int, Graph?)
  }

  /// Decides where the instance of an answer comes from.
  ///
  /// - Parameters:
  ///   - answer: what was found.
  ///   - scope: the scope that was asked for, or nil for the registered one.
  /// - Returns: where it comes from.
  /// - Throws: `wrongScope`, and `liveInTest` in a strict test.
  func source(_ answer: Answer, _ scope: InjectScope?) throws(InjectError) -> Source {
    let registration = answer.registration
    try checkStrictness(answer)
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
      return .slot(graph.slot(for: registration), depth: home(of: answer), graph)
    case .singleton, .weak, .session:
      let depth = home(of: answer)
      let registry = layer?.layer(at: depth)?.registry ?? storage.registry
      return .slot(registry.slot(for: registration, scope), depth: depth, nil)
    }
  }

  /// How deep the layer is that an instance of an answer belongs to.
  ///
  /// The one that registers it; or a layer further in that overrides what the builder asks for, or
  /// that has instances of its own.
  private func home(of answer: Answer) -> Int {
    guard layer != nil else { return answer.depth }
    let dependencies = answer.registration.knownDependencies
    var current = layer
    while let layer = current, layer.depth > answer.depth {
      if layer.isFresh || layer.registry.registersAny(of: dependencies) { return layer.depth }
      current = layer.below
    }
    return answer.depth
  }

  /// Refuses what lies beyond a strict layer, unless the test has failed of it already.
  private func checkStrictness(_ answer: Answer) throws(InjectError) {
    guard !allowsLive else { return }
    var current = layer
    while let layer = current, layer.depth > answer.depth {
      if let handler = layer.strictHandler, !LiveUse.isAllowed {
        let error = InjectError.liveInTest(subject, path: path, answer.registration)
        handler(error)
        throw error.told
      }
      current = layer.below
    }
  }

  /// Keeps an instance in the place that it belongs to.
  ///
  /// A builder may turn out to have used what a layer overrides. Then its instance belongs to that
  /// layer, and those that wait in `slot` look again.
  ///
  /// - Returns: the instance that is kept.
  func settle(
    _ instance: Dependency, _ build: Build, in slot: Slot<Dependency>, depth: Int,
    _ scope: InjectScope
  ) -> (instance: Dependency, depth: Int) {
    if build.depth > depth, scope != .graph, let inner = layer?.layer(at: build.depth) {
      let kept = inner.registry.slot(for: slot.registration, scope).adopt(instance, build)
      // Known only now, so that nobody looks for it there before it is there.
      slot.registration.add(dependencies: build.dependencies)
      slot.abandon(build)
      return (kept, inner.depth)
    }
    slot.registration.add(dependencies: build.dependencies)
    // A tree is its caller's, whose own instance may be for a layer further in.
    return (slot.finish(build, with: instance), scope == .graph ? max(depth, build.depth) : depth)
  }

  /// An instance that was found in a slot; nil when it turns out to belong to another layer.
  ///
  /// What its builder asks for is known before its instance can be seen, and not before that.
  func checked(_ instance: Dependency, _ answer: Answer, _ depth: Int) -> (Dependency, Int)? {
    home(of: answer) == depth ? (instance, depth) : nil
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

  /// Refuses to build what is being built around the caller.
  ///
  /// A builder with parameters may need itself with other ones, up to a depth that no sane one
  /// reaches.
  func checkCycle(_ registration: Registration<Dependency>) throws(InjectError) {
    guard !chain.isEmpty else { return }
    let steps = chain.steps
    let limit = parameters == nil ? 1 : 100
    let all = steps.indices.filter { steps[$0].registration === registration }
    // A task that an async builder started need not be awaited by it: one such step proves nothing.
    let same = all.filter { steps[$0].isCertain }
    let found = same.count >= limit ? same.last : all.count >= 100 ? all.last : nil
    guard let first = found else { return }
    throw .cycle(subject, steps[first...].map(\.registration) + [registration])
  }

  /// Whether the reads that follow find the same instance.
  ///
  /// A layer keeps what it has found until it is read again, which for a session is too long.
  func isSettled(_ scope: InjectScope) -> Bool {
    if case .session = scope.kind { layer == nil } else { scope == .singleton }
  }

  /// Keeps what was found for the reads that follow.
  func remember(_ answer: Answer, _ instance: Dependency?, version: Int) {
    guard answer.isLasting, parameters == nil, chain.isEmpty, !allowsLive else { return }
    let found: InjectRegistry.Answer
    if let instance {
      let scope = node.key.scope ?? answer.registration.scope
      // What is published can't be given up, and the instance of a session has to be at its end.
      found = Instance(
        instance, isPublishable: answer.registration.isValue || scope == .singleton)
    } else if case .builder(let builder) = answer.registration.maker {
      found = Fresh(answer.registration, builder)
    } else {
      return
    }
    if let layer {
      layer.keep(found, for: node, version: version)
    } else {
      node.keep(found, version: version)
    }
  }

  /// The version of all that a search looks at.
  var version: Int { layer?.version ?? storage.registry.version }
}
