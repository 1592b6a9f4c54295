/// One search for a dependency, from the injection to the registration that answers it.
struct Resolution<Dependency: Sendable> {
  let node: Node<Dependency>
  let storage: InjectStorage
  /// The innermost layer of overrides, or nil.
  let layer: Layer?
  /// The builders that run around the caller.
  let chain: Chain
  let parameters: ParameterBox?
  let location: InjectLocation?
  /// Whether a strict test may use dependencies that are not overridden.
  let allowsLive: Bool

  init(
    _ node: Node<Dependency>, _ storage: InjectStorage, _ layer: Layer?, _ chain: Chain,
    _ parameters: ParameterBox?, _ location: InjectLocation?, allowsLive: Bool = false
  ) {
    self.node = node
    self.storage = storage
    self.layer = layer
    self.chain = chain
    self.parameters = parameters
    self.location = location
    self.allowsLive = allowsLive
  }

  var subject: InjectError.Subject { node.subject(location) }

  /// A registration that matches, and where it was found.
  struct Candidate {
    let registration: Registration<Dependency>
    /// The depth of its layer; 0 for the storage itself.
    let depth: Int
    /// Whether the next search would end the same way.
    var isLasting = true
  }

  /// The result of the search.
  enum Finding {
    case candidates([Candidate])
    /// The search can't decide before it has seen an instance of this registration.
    case learn(Candidate)
    case nothing
  }

  /// What the search has learned so far.
  struct Progress {
    /// Candidates that could not be built, by identity.
    var failures: [ObjectIdentifier: InjectError] = [:]
    /// Whether the error closure had its chance to register the missing dependency.
    var closureWasCalled = false
  }

  /// The registries to look into, innermost first, with their depths.
  var registries: [(registry: Registry, depth: Int)] {
    var registries: [(Registry, Int)] = []
    var current = layer
    while let layer = current {
      registries.append((layer.registry, layer.depth))
      current = layer.below
    }
    registries.append((storage.registry, 0))
    return registries
  }

  /// The keys to look for, in order: the group first, then the general registry.
  var keys: [EntryKey] {
    let key = node.key.entry
    return key.group == nil ? [key] : [key, key.general]
  }

  /// Looks for matches, innermost registry first.
  ///
  /// - Throws: the failure of a candidate whose type is needed for the decision.
  func find(_ progress: Progress) throws(InjectError) -> Finding {
    let registries = registries
    let running = chain.isEmpty ? [] : chain.steps.map(\.registration)
    var skipped: Candidate?
    for key in keys {
      for (registry, depth) in registries {
        let candidates = registry.registrations(for: key).map { registration in
          Candidate(
            registration: unsafe unsafeDowncast(registration, to: Registration<Dependency>.self),
            depth: depth)
        }
        guard !candidates.isEmpty else { continue }
        if candidates.count == 1, node.qualifiers.isEmpty { return .candidates(candidates) }
        var choice = Choice(candidates, node.qualifiers, running, progress.failures)
        let found = try choice.make()
        skipped = skipped ?? choice.skipped
        if case .nothing = found { continue }
        return found
      }
    }
    // A dependency is no candidate inside its own builder, unless there is no other: then it is a
    // cycle, which building it will find.
    return skipped.map { .candidates([$0]) } ?? .nothing
  }

  /// The only candidate.
  ///
  /// - Throws: `moreThanOne`.
  func single(_ candidates: [Candidate]) throws(InjectError) -> Candidate {
    guard candidates.count == 1, let candidate = candidates.first else {
      record(depth: candidates.map(\.depth).max() ?? 0)
      throw .moreThanOne(subject, path: path, candidates.map(\.registration))
    }
    return candidate
  }

  /// The builders that run around the caller, by name.
  var path: [String] { chain.isEmpty ? [] : chain.steps.map(\.registration.name) }

  /// The error that nothing was found.
  var notFound: InjectError {
    .notFound(
      subject, path: path, node: node, parameters: parameters?.type,
      registered: registries.flatMap { $0.registry.allWithInstances })
  }

  /// The closure that may register missing dependencies: the innermost that is set.
  var errorClosure: InjectErrorClosure? {
    var current = layer
    while let layer = current {
      if let closure = layer.registry.errorClosure { return closure }
      // A closure from beyond a strict layer would register live dependencies.
      if layer.strictHandler != nil, !allowsLive, !LiveUse.isAllowed { return nil }
      current = layer.below
    }
    return storage.registry.errorClosure
  }

  /// Records the request in the asking builder before the result is known, since the builder may
  /// continue without it.
  func record(_ types: Set<ObjectIdentifier> = [], depth: Int) {
    guard !chain.isEmpty else { return }
    chain.innermostBuild?.record(types.union([node.key.entry.type]), depth: depth)
  }

  /// Records the requests of a failed build in the asking builder.
  func recordFailure(of build: Build, _ depth: Int) {
    record(build.dependencies, depth: max(depth, build.depth))
  }

  /// The depth of the innermost layer; 0 is the storage itself.
  var layerDepth: Int { layer?.depth ?? 0 }
}

extension Resolution {
  /// A choice among the registrations that one registry has for a key.
  struct Choice {
    private let candidates: [Candidate]
    private let qualifiers: [Qualifier]
    private let running: [AnyRegistration]
    private let failures: [ObjectIdentifier: InjectError]
    /// A candidate that is being built around the caller.
    private(set) var skipped: Candidate?

    init(
      _ candidates: [Candidate], _ qualifiers: [Qualifier], _ running: [AnyRegistration],
      _ failures: [ObjectIdentifier: InjectError]
    ) {
      self.candidates = candidates
      self.qualifiers = qualifiers
      self.running = running
      self.failures = failures
    }

    /// The matches; if mocks are among them, only the mocks.
    mutating func make() throws(InjectError) -> Finding {
      var matches: [Candidate] = []
      var mocks: [Candidate] = []
      var failure: InjectError?
      for candidate in candidates {
        let registration = candidate.registration
        if let failed = failures[ObjectIdentifier(registration)] {
          failure = failure ?? failed
          continue
        }
        if let value = registration.anyValue, registration.answer(to: qualifiers) == nil {
          registration.learn(from: value, isKept: { true }, qualifiers: qualifiers)
        }
        if let answer = registration.answer(to: qualifiers) {
          guard answer.matches else { continue }
          if running.contains(where: { $0 === registration }) {
            skipped = candidate
          } else {
            matches.append(candidate)
            if answer.isMock { mocks.append(candidate) }
          }
        } else if running.contains(where: { $0 === registration }) {
          skipped = candidate
        } else {
          return .learn(candidate)
        }
      }
      let found = mocks.isEmpty ? matches : mocks
      // A candidate that can't be built may be the intended one, unless a mock decides.
      if let failure, mocks.isEmpty { throw failure }
      guard !found.isEmpty else { return .nothing }
      return .candidates(
        found.map { candidate in
          var candidate = candidate
          candidate.isLasting = skipped == nil && failures.isEmpty
          return candidate
        })
    }
  }
}
