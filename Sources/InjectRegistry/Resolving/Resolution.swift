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
  /// Whether what is not overridden may be used in a strict test.
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

  /// A registration that answers, and where it was found.
  struct Answer {
    let registration: Registration<Dependency>
    /// 0 for the storage itself.
    let depth: Int
    /// Whether the next search would end the same way.
    var isLasting = true
  }

  /// What the search came to.
  enum Finding {
    case answers([Answer])
    /// Nothing can be said before an instance of this registration was seen.
    case learn(Answer)
    case nothing
  }

  /// What was found out on the way.
  struct Progress {
    /// Candidates that could not be built, by identity.
    var failures: [ObjectIdentifier: InjectError] = [:]
    /// Whether the error closure had its chance to register what is missing.
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

  /// Looks for what matches, innermost registry first.
  ///
  /// - Throws: the failure of a candidate that would have to be known.
  func find(_ progress: Progress) throws(InjectError) -> Finding {
    let registries = registries
    let running = chain.isEmpty ? [] : chain.steps.map(\.registration)
    var skipped: Answer?
    for key in keys {
      for (registry, depth) in registries {
        let candidates = registry.registrations(for: key).map { registration in
          Answer(
            registration: unsafe unsafeDowncast(registration, to: Registration<Dependency>.self),
            depth: depth)
        }
        guard !candidates.isEmpty else { continue }
        if candidates.count == 1, node.qualifiers.isEmpty { return .answers(candidates) }
        var choice = Choice(candidates, node.qualifiers, running, progress.failures)
        let found = try choice.make()
        skipped = skipped ?? choice.skipped
        if case .nothing = found { continue }
        return found
      }
    }
    // What is being built is no candidate inside its own builder, unless there is no other: then it
    // is a cycle, which building it will find.
    return skipped.map { .answers([$0]) } ?? .nothing
  }

  /// The one that answers.
  ///
  /// - Throws: `moreThanOne`.
  func single(_ answers: [Answer]) throws(InjectError) -> Answer {
    guard answers.count == 1, let answer = answers.first else {
      record(depth: answers.map(\.depth).max() ?? 0)
      throw .moreThanOne(subject, path: path, answers.map(\.registration))
    }
    return answer
  }

  /// The builders that run around the caller, by name.
  var path: [String] { chain.isEmpty ? [] : chain.steps.map(\.registration.name) }

  /// Says that nothing was found.
  var notFound: InjectError {
    .notFound(
      subject, path: path, node: node, parameters: parameters?.type,
      registered: registries.flatMap { $0.registry.allWithInstances })
  }

  /// The closure that may register what is missing: the innermost that is set.
  var errorClosure: InjectErrorClosure? {
    var current = layer
    while let layer = current {
      if let closure = layer.registry.errorClosure { return closure }
      // One from beyond a strict layer would register what is live.
      if layer.strictHandler != nil, !allowsLive, !LiveUse.isAllowed { return nil }
      current = layer.below
    }
    return storage.registry.errorClosure
  }

  /// Remembers in the builder that asks what it asked for, before it is known what comes of it: the
  /// builder may go on without.
  func record(_ types: Set<ObjectIdentifier> = [], depth: Int) {
    guard !chain.isEmpty else { return }
    chain.innermostBuild?.record(types.union([node.key.entry.type]), depth: depth)
  }

  /// Remembers in the builder that asks what a build asked for that failed.
  func recordFailure(of build: Build, _ depth: Int) {
    record(build.dependencies, depth: max(depth, build.depth))
  }

  /// How deep the innermost layer is; 0 is the storage itself.
  var layerDepth: Int { layer?.depth ?? 0 }
}

extension Resolution {
  /// A choice among the registrations that one registry has for a key.
  struct Choice {
    private let candidates: [Answer]
    private let qualifiers: [Qualifier]
    private let running: [AnyRegistration]
    private let failures: [ObjectIdentifier: InjectError]
    /// A candidate that is being built around the caller.
    private(set) var skipped: Answer?

    init(
      _ candidates: [Answer], _ qualifiers: [Qualifier], _ running: [AnyRegistration],
      _ failures: [ObjectIdentifier: InjectError]
    ) {
      self.candidates = candidates
      self.qualifiers = qualifiers
      self.running = running
      self.failures = failures
    }

    /// What matches; a mock among it leaves the others out.
    mutating func make() throws(InjectError) -> Finding {
      var matches: [Answer] = []
      var mocks: [Answer] = []
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
      // A candidate that can't be built may be the one that was meant, unless a mock decides.
      if let failure, mocks.isEmpty { throw failure }
      guard !found.isEmpty else { return .nothing }
      return .answers(
        found.map { answer in
          var answer = answer
          answer.isLasting = skipped == nil && failures.isEmpty
          return answer
        })
    }
  }
}
