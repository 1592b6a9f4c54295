extension Resolution {
  /// Searches until there is an answer, and returns its instance; builders may be async.
  func runAsync() async throws(InjectError) -> Dependency {
    record(depth: 0)
    var progress = Progress()
    while true {
      let version = version
      switch try find(progress) {
      case .answers(let answers):
        let found = try await obtainAsync(single(answers), node.key.scope, version: version)
        if let found { return found }
      case .learn(let candidate): await learnAsync(candidate, &progress, version)
      case .nothing: try await registerLateAsync(&progress, version)
      }
    }
  }

  /// Returns all matches, in the order of registration; builders may be async.
  func runAllAsync() async throws(InjectError) -> [Dependency] {
    record(depth: 0)
    var progress = Progress()
    while true {
      let version = version
      switch try find(progress) {
      case .answers(let answers):
        var all: [Dependency] = []
        for answer in answers {
          let found = try await obtainAsync(
            answer, node.key.scope, version: version, isOne: false)
          if let found { all.append(found) }
        }
        if all.count == answers.count { return all }
      case .learn(let candidate): await learnAsync(candidate, &progress, version)
      case .nothing: return []
      }
    }
  }

  private func learnAsync(
    _ candidate: Answer, _ progress: inout Progress, _ version: Int
  ) async {
    do throws(InjectError) {
      let instance = try await buildAsync(candidate.registration, depth: candidate.depth)
      see(instance, candidate, version)
    } catch {
      progress.failures[ObjectIdentifier(candidate.registration)] = error
    }
  }

  /// The instance of a registration, regardless of competing ones.
  func buildAsync(
    _ registration: Registration<Dependency>, depth: Int
  ) async throws(InjectError) -> Dependency {
    let answer = Answer(registration: registration, depth: depth)
    while true {
      let found = try await obtainAsync(
        answer, registration.scope, version: version, isOne: false)
      if let found { return found }
    }
  }

  private func obtainAsync(
    _ answer: Answer, _ asked: InjectScope?, version: Int, isOne: Bool = true
  ) async throws(InjectError) -> Dependency? {
    let registration = answer.registration
    let scope = asked ?? registration.scope
    record(depth: answer.depth)
    switch try source(answer, asked) {
    case .instance(let instance):
      if isOne { remember(answer, instance, version: version) }
      return instance
    case .builder:
      try checkCycle(registration)
      return try await makeAsync(registration, nil)
    case .slot(let slot, let depth, let graph):
      guard let (instance, home) = try await obtainAsync(answer, slot, depth, scope, graph)
      else { return nil }
      record(slot.registration.knownDependencies, depth: home)
      if isOne, isSettled(scope) { remember(answer, instance, version: version) }
      return instance
    }
  }

  private func obtainAsync(
    _ answer: Answer, _ slot: Slot<Dependency>, _ depth: Int, _ scope: InjectScope,
    _ graph: Graph?
  ) async throws(InjectError) -> (Dependency, Int)? {
    if let instance = slot.instance { return checked(instance, answer, depth) }
    switch slot.enter(chain.steps, layerDepth, canSuspend: true) {
    case .instance(let instance): return checked(instance, answer, depth)
    case .cycle(let path): throw .cycle(subject, path)
    case .asyncBuild: return nil
    case .wait(let wait):
      do throws(InjectError) {
        try await Builds.suspend(wait, subject)
      } catch {
        recordFailure(of: wait.target, depth)
        throw error
      }
      return nil
    case .mine(let build):
      Activity.begin()
      defer { Activity.end() }
      do throws(InjectError) {
        let instance = try await makeAsync(slot.registration, build, graph)
        try checkWeak(instance, scope, slot.registration)
        return settle(instance, build, in: slot, depth: depth, scope)
      } catch {
        recordFailure(of: build, depth)
        // Then waiting code inside the layer looks there, and shares the result.
        if build.depth > depth { slot.registration.add(dependencies: build.dependencies) }
        // Waiting code outside of the layer that the instance belongs to builds its own; so does
        // code whose task was not cancelled.
        let isOwn = build.depth > depth || Task.isCancelled || error.isCancellation
        slot.abandon(build, failure: isOwn ? nil : error)
        throw error
      }
    }
  }

  private func makeAsync(
    _ registration: Registration<Dependency>, _ build: Build?, _ graph: Graph? = nil
  ) async throws(InjectError) -> Dependency {
    do {
      return try await AsyncFrame.run(registration, build, graph) {
        switch registration.maker {
        case .value(let value): return value
        case .builder(let builder): return try builder()
        case .asyncBuilder(let builder): return try await builder()
        case .parametrised(let builder):
          guard let parameters else { throw InjectError.needsAwait(subject, registration) }
          return try builder(parameters.value)
        case .asyncParametrised(let builder):
          guard let parameters else { throw InjectError.needsAwait(subject, registration) }
          return try await builder(parameters.value)
        }
      }
    } catch {
      throw .of(error, subject, path: path + [registration.name], registration)
    }
  }

  private func registerLateAsync(
    _ progress: inout Progress, _ seen: Int
  ) async throws(InjectError) {
    guard let late = late(progress) else { throw missing() }
    switch late.slot.enter(chain.steps, layerDepth, canSuspend: true) {
    case .cycle, .instance, .asyncBuild: throw missing()
    case .wait(let wait): try await Builds.suspend(wait, subject)
    case .mine(let build):
      // Somebody may have registered the dependency since the search.
      guard version == seen else { return late.slot.abandon(build) }
      progress.closureWasCalled = true
      callClosure(late, build)
    }
  }
}
