extension Resolution {
  /// Searches until there is an answer, and returns its instance.
  func run() throws(InjectError) -> Dependency {
    record(depth: 0)
    var progress = Progress()
    while true {
      let version = version
      switch try find(progress) {
      case .answers(let answers):
        if let found = try obtain(single(answers), version: version) { return found }
      case .learn(let candidate): try learn(candidate, &progress, version)
      case .nothing: try registerLate(&progress, version)
      }
    }
  }

  /// Returns all matches, in the order of registration.
  func runAll() throws(InjectError) -> [Dependency] {
    record(depth: 0)
    var progress = Progress()
    while true {
      let version = version
      switch try find(progress) {
      case .answers(let answers):
        var all: [Dependency] = []
        for answer in answers {
          if let found = try obtain(answer, version: version, isOne: false) { all.append(found) }
        }
        if all.count == answers.count { return all }
      case .learn(let candidate): try learn(candidate, &progress, version)
      case .nothing: return []
      }
    }
  }

  /// Learns the types of a candidate's instance.
  private func learn(
    _ candidate: Answer, _ progress: inout Progress, _ version: Int
  ) throws(InjectError) {
    do throws(InjectError) {
      let instance = try build(candidate.registration, depth: candidate.depth)
      see(instance, candidate, version)
    } catch {
      progress.failures[ObjectIdentifier(candidate.registration)] = error
    }
  }

  /// Remembers the types of a candidate's instance, which was built after a version.
  func see(_ instance: Dependency, _ candidate: Answer, _ version: Int) {
    // A layer's instance is released with the layer, a weak one with its last other reference, and
    // one that was built before a reset with the reset.
    let isLasting = layer == nil && candidate.registration.scope != .weak
    candidate.registration.learn(
      from: instance, isKept: { isLasting && self.version == version },
      qualifiers: node.qualifiers)
  }

  /// The instance of a registration, regardless of competing ones.
  func build(
    _ registration: Registration<Dependency>, depth: Int
  ) throws(InjectError) -> Dependency {
    let answer = Answer(registration: registration, depth: depth)
    while true {
      let found = try obtain(answer, registration.scope, version: version, isOne: false)
      if let found { return found }
    }
  }

  /// The instance of an answer; nil when the search must start again.
  private func obtain(
    _ answer: Answer, version: Int, isOne: Bool = true
  ) throws(InjectError) -> Dependency? {
    try obtain(answer, node.key.scope, version: version, isOne: isOne)
  }

  private func obtain(
    _ answer: Answer, _ asked: InjectScope?, version: Int, isOne: Bool
  ) throws(InjectError) -> Dependency? {
    let registration = answer.registration
    let scope = asked ?? registration.scope
    record(depth: answer.depth)
    switch try source(answer, asked) {
    case .instance(let instance):
      if isOne { remember(answer, instance, version: version) }
      return instance
    case .builder:
      try checkCycle(registration)
      if isOne { remember(answer, nil, version: version) }
      return try make(registration, nil)
    case .slot(let slot, let depth, let graph):
      guard let (instance, home) = try obtain(answer, slot, depth, scope, graph) else {
        return nil
      }
      record(slot.registration.knownDependencies, depth: home)
      if isOne, isSettled(scope) { remember(answer, instance, version: version) }
      return instance
    }
  }

  /// The instance of a slot, which is built or waited for; nil when the search must start again.
  private func obtain(
    _ answer: Answer, _ slot: Slot<Dependency>, _ depth: Int, _ scope: InjectScope,
    _ graph: Graph?
  ) throws(InjectError) -> (Dependency, Int)? {
    if let instance = slot.instance { return checked(instance, answer, depth) }
    switch slot.enter(chain.steps, layerDepth, canSuspend: false) {
    case .instance(let instance): return checked(instance, answer, depth)
    case .cycle(let path): throw .cycle(subject, path)
    case .asyncBuild: throw .needsAwait(subject, slot.registration)
    case .wait(let wait):
      do throws(InjectError) {
        try Builds.hold(wait, subject)
      } catch {
        recordFailure(of: wait.target, depth)
        throw error
      }
      return nil
    case .mine(let build):
      Activity.begin()
      defer { Activity.end() }
      do throws(InjectError) {
        let instance = try make(slot.registration, build, graph)
        try checkWeak(instance, scope, slot.registration)
        return settle(instance, build, in: slot, depth: depth, scope)
      } catch {
        recordFailure(of: build, depth)
        // Then waiting code inside the layer looks there, and shares the result.
        if build.depth > depth { slot.registration.add(dependencies: build.dependencies) }
        // Waiting code outside of the layer that the instance belongs to builds its own.
        slot.abandon(build, failure: build.depth > depth ? nil : error)
        throw error
      }
    }
  }

  /// Runs a builder.
  private func make(
    _ registration: Registration<Dependency>, _ build: Build?, _ graph: Graph? = nil
  ) throws(InjectError) -> Dependency {
    do {
      return try Frame.run(registration, build, graph, in: chain) {
        () throws(any Error) -> Dependency in
        switch registration.maker {
        case .value(let value): return value
        case .builder(let builder): return try builder()
        case .parametrised(let builder):
          guard let parameters else { throw InjectError.needsAwait(subject, registration) }
          return try builder(parameters.value)
        case .asyncBuilder, .asyncParametrised:
          throw InjectError.needsAwait(subject, registration)
        }
      }
    } catch {
      throw .of(error, subject, path: path + [registration.name], registration)
    }
  }

  /// Lets the error closure register a missing dependency; one thread at a time for each injection.
  ///
  /// - Throws: `notFound`, if the closure had its chance already.
  private func registerLate(
    _ progress: inout Progress, _ seen: Int
  ) throws(InjectError) {
    guard let late = late(progress) else { throw missing() }
    switch late.slot.enter(chain.steps, layerDepth, canSuspend: false) {
    case .cycle, .instance, .asyncBuild: throw missing()
    case .wait(let wait): try Builds.hold(wait, subject)
    case .mine(let build):
      // Somebody may have registered the dependency since the search.
      guard version == seen else { return late.slot.abandon(build) }
      progress.closureWasCalled = true
      callClosure(late, build)
    }
  }

  /// Calls the error closure, and then lets waiting code look again.
  func callClosure(_ late: Late, _ build: Build) {
    Activity.begin()
    defer { Activity.end() }
    Frame.run(late.slot.registration, build, in: chain) { late.closure(late.error) }
    late.slot.abandon(build)
  }
}
