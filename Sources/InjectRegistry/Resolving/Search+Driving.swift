extension Resolution {
  /// Searches until there is an answer, and returns its instance.
  func run() throws(InjectError) -> Dependency { try drive(.one)[0] }

  /// Returns all matches, in the order of registration.
  func runAll() throws(InjectError) -> [Dependency] { try drive(.all) }

  /// The instance of a registration, regardless of competing ones.
  func build(_ registration: Registration<Dependency>) throws(InjectError) -> Dependency {
    try drive(.only(registration))[0]
  }

  /// Searches until there is an answer, and returns its instance; builders may be async.
  func runAsync() async throws(InjectError) -> Dependency { try await driveAsync(.one)[0] }

  /// Returns all matches, in the order of registration; builders may be async.
  func runAllAsync() async throws(InjectError) -> [Dependency] { try await driveAsync(.all) }

  /// The instance of a registration, regardless of competing ones; builders may be async.
  func buildAsync(
    _ registration: Registration<Dependency>
  ) async throws(InjectError) -> Dependency {
    try await driveAsync(.only(registration))[0]
  }

  private func drive(_ goal: Search<Dependency>.Goal) throws(InjectError) -> [Dependency] {
    var search = Search(self, goal, canSuspend: false)
    while let action = try search.next() {
      switch action {
      case .build(let job): try search.finish(job, make(job))
      case .wait(let wait, let depth):
        try search.endWait(wait, depth, Builds.hold(wait, subject))
      }
    }
    return search.found
  }

  private func driveAsync(
    _ goal: Search<Dependency>.Goal
  ) async throws(InjectError) -> [Dependency] {
    var search = Search(self, goal, canSuspend: true)
    while let action = try search.next() {
      switch action {
      case .build(let job): try search.finish(job, await makeAsync(job))
      case .wait(let wait, let depth):
        try search.endWait(wait, depth, await Builds.suspend(wait, subject))
      }
    }
    return search.found
  }

  /// Runs a builder.
  private func make(_ job: Search<Dependency>.Job) -> Result<Dependency, InjectError> {
    let registration = job.registration
    do {
      return .success(
        try Frame.run(registration, job.kept?.build, job.kept?.graph, in: chain) {
          () throws(any Error) -> Dependency in
          switch registration.maker {
          case .value(let value): return value
          case .builder(let builder): return try builder()
          case .parametrised(let builder): return try builder(try value(for: registration))
          case .asyncBuilder, .asyncParametrised:
            throw InjectError.needsAwait(subject, registration)
          }
        })
    } catch {
      return .failure(failure(error, registration))
    }
  }

  private func makeAsync(
    _ job: Search<Dependency>.Job
  ) async -> Result<Dependency, InjectError> {
    let registration = job.registration
    do {
      return .success(
        try await AsyncFrame.run(registration, job.kept?.build, job.kept?.graph) {
          switch registration.maker {
          case .value(let value): return value
          case .builder(let builder): return try builder()
          case .asyncBuilder(let builder): return try await builder()
          case .parametrised(let builder): return try builder(try value(for: registration))
          case .asyncParametrised(let builder):
            return try await builder(try value(for: registration))
          }
        })
    } catch {
      return .failure(failure(error, registration))
    }
  }

  /// What the builder is given.
  private func value(for registration: AnyRegistration) throws(InjectError) -> any Sendable {
    guard let parameters else { throw .needsAwait(subject, registration) }
    return parameters.value
  }

  private func failure(_ error: any Error, _ registration: AnyRegistration) -> InjectError {
    .of(error, subject, path: path + [registration.name], registration)
  }
}
