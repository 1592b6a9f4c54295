extension InjectStorage {
  /// Runs `body` with overrides of its own: registrations inside are seen only inside.
  ///
  ///     InjectStorage.withOverrides {
  ///       @Register var api: any API = TestClient()
  ///       checkOut()
  ///     }
  ///
  /// Overrides belong to the task, and reach the tasks that are started inside, including those
  /// that outlive the call. `Task.detached`, threads and queues get them through
  /// ``InjectOverrides/current``. Overrides can be nested; the innermost that has the requested
  /// dependency answers. An instance whose builder uses an overridden dependency is built anew for
  /// the overrides; all other instances are the outer ones.
  ///
  /// - Parameter body: what is run.
  /// - Returns: what `body` returns.
  public static func withOverrides<Result>(_ body: () throws -> Result) rethrows -> Result {
    try standard.withOverrides(body)
  }

  /// Runs `operation` with what `overrides` registers.
  ///
  /// - Parameters:
  ///   - overrides: registers.
  ///   - operation: what is run.
  /// - Returns: what `operation` returns.
  public static func withOverrides<Result>(
    _ overrides: () throws -> Void, operation: () throws -> Result
  ) rethrows -> Result {
    try standard.withOverrides(overrides, operation: operation)
  }

  /// Runs an async `body` with overrides of its own.
  ///
  /// - Parameters:
  ///   - isolation: the actor to stay on; the caller's.
  ///   - body: what is run.
  /// - Returns: what `body` returns.
  public static func withOverrides<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async rethrows -> Result {
    try await standard.withOverrides(isolation: isolation, body)
  }

  /// Runs an async `operation` with what `overrides` registers.
  ///
  /// - Parameters:
  ///   - isolation: the actor to stay on; the caller's.
  ///   - overrides: registers.
  ///   - operation: what is run.
  /// - Returns: what `operation` returns.
  public static func withOverrides<Result>(
    isolation: isolated (any Actor)? = #isolation, _ overrides: () throws -> Void,
    operation: () async throws -> Result
  ) async rethrows -> Result {
    try await standard.withOverrides(isolation: isolation, overrides, operation: operation)
  }

  /// As the static call of this name, for overrides of this storage.
  public func withOverrides<Result>(_ body: () throws -> Result) rethrows -> Result {
    try withLayer(Layer(self, isFresh: false, strictHandler: nil), body)
  }

  /// As the static call of this name, for overrides of this storage.
  public func withOverrides<Result>(
    _ overrides: () throws -> Void, operation: () throws -> Result
  ) rethrows -> Result {
    try withOverrides {
      try overrides()
      return try operation()
    }
  }

  /// As the static call of this name, for overrides of this storage.
  public func withOverrides<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async rethrows -> Result {
    let layer = Layer(self, isFresh: false, strictHandler: nil)
    return try await Layer.$current.withValue(layer, operation: body, isolation: isolation)
  }

  /// As the static call of this name, for overrides of this storage.
  public func withOverrides<Result>(
    isolation: isolated (any Actor)? = #isolation, _ overrides: () throws -> Void,
    operation: () async throws -> Result
  ) async rethrows -> Result {
    let layer = Layer(self, isFresh: false, strictHandler: nil)
    try withLayer(layer, overrides)
    return try await Layer.$current.withValue(layer, operation: operation, isolation: isolation)
  }

  private func withLayer<Result>(
    _ layer: Layer, _ body: () throws -> Result
  ) rethrows -> Result {
    try Layer.$current.withValue(layer, operation: body)
  }

  /// Runs `body` as a test: instances are built anew for the test, and none outlives it.
  ///
  /// - Parameters:
  ///   - strictHandler: if set, the test may use only what it registers; the handler takes each
  ///     violation.
  ///   - body: what is run.
  /// - Returns: what `body` returns.
  package func withFreshOverrides<Result>(
    strictHandler: (@Sendable (InjectError) -> Void)?, _ body: () throws -> Result
  ) rethrows -> Result {
    try withLayer(Layer(self, isFresh: true, strictHandler: strictHandler), body)
  }

  /// The same, for an async `body`.
  package func withFreshOverrides<Result>(
    isolation: isolated (any Actor)? = #isolation,
    strictHandler: (@Sendable (InjectError) -> Void)?, _ body: () async throws -> Result
  ) async rethrows -> Result {
    let layer = Layer(self, isFresh: true, strictHandler: strictHandler)
    return try await Layer.$current.withValue(layer, operation: body, isolation: isolation)
  }
}
