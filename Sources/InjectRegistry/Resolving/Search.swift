/// A search for instances, as a machine: it decides, and a driver calls builders and waits for it.
///
/// One driver runs code that can't suspend, the other code that can; they differ in nothing else.
struct Search<Dependency: Sendable> {
  /// What is searched for.
  enum Goal {
    /// The one registration that is the answer.
    case one
    /// All matches, in the order of registration.
    case all
    /// One registration, regardless of competing ones.
    case only(Registration<Dependency>)
  }

  /// What the driver has to do before it asks again.
  enum Action {
    /// Call the builder, and report with ``finish(_:_:)``.
    case build(Job)
    /// Wait, and report with ``endWait(_:_:_:)``.
    ///
    /// The depth is that of the layer whose instance is awaited; nil for the right to register a
    /// missing dependency.
    case wait(Wait, depth: Int?)
  }

  /// A builder's call.
  struct Job {
    let registration: Registration<Dependency>
    var kept: Kept?
  }

  /// Where a job's instance is kept.
  struct Kept {
    let slot: Slot<Dependency>
    let build: Build
    let depth: Int
    let scope: InjectScope
    let graph: Graph?
  }

  let resolution: Resolution<Dependency>
  let goal: Goal
  let canSuspend: Bool
  /// The instances that were found.
  private(set) var found: [Dependency] = []
  private var isDone = false
  private var progress = Resolution<Dependency>.Progress()
  /// The version of the registries before the last look at them.
  private var version = 0
  /// Those whose instances are still missing.
  private var missing: ArraySlice<Resolution<Dependency>.Candidate> = []
  /// One that is built only to learn the types of its instance.
  private var sample: Resolution<Dependency>.Candidate?

  init(_ resolution: Resolution<Dependency>, _ goal: Goal, canSuspend: Bool) {
    self.resolution = resolution
    self.goal = goal
    self.canSuspend = canSuspend
    if case .only(let registration) = goal {
      let depth = registration.depth(in: resolution.layer)
      missing = [.init(registration: registration, depth: depth)]
    } else {
      resolution.record(depth: 0)
    }
  }

  /// The next action; nil when the search is done.
  mutating func next() throws(InjectError) -> Action? {
    while !isDone {
      do throws(InjectError) {
        if let candidate = sample ?? missing.first {
          if let action = try obtain(candidate) { return action }
        } else if let wait = try look() {
          return .wait(wait, depth: nil)
        }
      } catch {
        try fail(error)
      }
    }
    return nil
  }

  /// Looks for candidates.
  ///
  /// - Returns: a wait for the right to register a missing dependency, or nil.
  private mutating func look() throws(InjectError) -> Wait? {
    version = resolution.version
    switch try resolution.find(progress) {
    case .candidates(let candidates):
      if case .one = goal {
        missing = [try resolution.single(candidates)]
      } else {
        missing = candidates[...]
      }
    case .learn(let candidate): sample = candidate
    case .nothing:
      if case .all = goal { isDone = true } else { return try registerLate() }
    }
    return nil
  }

  /// Lets the error closure register a missing dependency; one thread at a time for each injection.
  private mutating func registerLate() throws(InjectError) -> Wait? {
    guard let late = resolution.late(progress) else { throw resolution.missing() }
    switch late.slot.enter(resolution.chain.steps, resolution.layerDepth, canSuspend: canSuspend) {
    case .cycle, .instance, .asyncBuild: throw resolution.missing()
    case .wait(let wait): return wait
    case .mine(let build):
      // Somebody may have registered the dependency since the search.
      if resolution.version == version {
        progress.closureWasCalled = true
        Activity.begin()
        defer { Activity.end() }
        Frame.run(late.slot.registration, build, in: resolution.chain) { late.closure(late.error) }
      }
      late.slot.abandon(build)
      return nil
    }
  }

  /// Takes the instance of a candidate, or says what has to be done first.
  private mutating func obtain(
    _ candidate: Resolution<Dependency>.Candidate
  ) throws(InjectError) -> Action? {
    let registration = candidate.registration
    let asked = isOwnScope ? registration.scope : resolution.node.key.scope
    resolution.record(depth: candidate.depth)
    switch try resolution.source(candidate, asked) {
    case .instance(let instance):
      if isOne { resolution.remember(candidate, instance, version: version) }
      take(instance)
    case .builder:
      try resolution.checkCycle(registration)
      if isOne { resolution.remember(candidate, nil, version: version) }
      return .build(Job(registration: registration))
    case .slot(let slot, let depth, let graph):
      let scope = asked ?? registration.scope
      switch slot.enter(resolution.chain.steps, resolution.layerDepth, canSuspend: canSuspend) {
      case .instance(let instance):
        // Otherwise it belongs to another layer.
        if let (instance, home) = resolution.checked(instance, candidate, depth) {
          take(instance, of: slot, home, candidate, scope)
        } else {
          restart()
        }
      case .cycle(let path): throw .cycle(resolution.subject, path)
      case .asyncBuild: throw .needsAwait(resolution.subject, slot.registration)
      case .wait(let wait): return .wait(wait, depth: depth)
      case .mine(let build):
        Activity.begin()
        let kept = Kept(slot: slot, build: build, depth: depth, scope: scope, graph: graph)
        return .build(Job(registration: slot.registration, kept: kept))
      }
    }
    return nil
  }

  /// Takes in what a builder has made.
  mutating func finish(
    _ job: Job, _ result: Result<Dependency, InjectError>
  ) throws(InjectError) {
    defer { if job.kept != nil { Activity.end() } }
    do throws(InjectError) {
      let instance = try result.get()
      guard let kept = job.kept else { return take(instance) }
      try resolution.checkWeak(instance, kept.scope, job.registration)
      let (own, home) = resolution.keep(
        instance, kept.build, in: kept.slot, depth: kept.depth, kept.scope)
      take(own, of: kept.slot, home, sample ?? missing[missing.startIndex], kept.scope)
    } catch {
      if let kept = job.kept { abandon(kept, error) }
      try fail(error)
    }
  }

  private func abandon(_ kept: Kept, _ error: InjectError) {
    let (build, isInner) = (kept.build, kept.build.depth > kept.depth)
    resolution.recordFailure(of: build, kept.depth)
    // Then waiting code inside the layer looks there, and shares the result.
    if isInner { kept.slot.registration.add(dependencies: build.dependencies) }
    // Waiting code outside of the layer that the instance belongs to builds its own; so does code
    // whose task was not cancelled.
    let isOwn = isInner || canSuspend && (Task.isCancelled || error.isCancellation)
    kept.slot.abandon(build, failure: isOwn ? nil : error)
  }

  /// Takes in the end of a wait.
  mutating func endWait(_ wait: Wait, _ depth: Int?, _ error: InjectError?) throws(InjectError) {
    guard let error else { return restart() }
    if let depth { resolution.recordFailure(of: wait.target, depth) }
    try fail(error)
  }

  private var isOne: Bool {
    if case .one = goal { sample == nil } else { false }
  }

  /// Whether instances are built in the scope that they are registered in, whatever is asked for.
  private var isOwnScope: Bool {
    if case .only = goal { true } else { sample != nil }
  }

  private mutating func take(
    _ instance: Dependency, of slot: Slot<Dependency>, _ home: Int,
    _ candidate: Resolution<Dependency>.Candidate, _ scope: InjectScope
  ) {
    resolution.record(slot.registration.knownDependencies, depth: home)
    if isOne, resolution.isLasting(scope) {
      resolution.remember(candidate, instance, version: version)
    }
    take(instance)
  }

  private mutating func take(_ instance: Dependency) {
    if let sample {
      resolution.see(instance, sample, version)
      self.sample = nil
    } else {
      found.append(instance)
      missing.removeFirst()
      isDone = missing.isEmpty
    }
  }

  /// Looks again, since something has changed.
  private mutating func restart() {
    // A registration that was asked for, and a sample, are asked for again.
    if isOwnScope { return }
    missing = []
    found = []
  }

  /// A sample that can't be built is left to the choice among the candidates.
  private mutating func fail(_ error: InjectError) throws(InjectError) {
    guard let sample else { throw error }
    progress.failures[ObjectIdentifier(sample.registration)] = error
    self.sample = nil
  }
}
