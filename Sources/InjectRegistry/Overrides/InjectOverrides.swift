/// The overrides of a task, for passing them to threads and tasks that don't inherit them.
///
///     let overrides = InjectOverrides.current
///     queue.async { overrides.apply { checkOut() } }
///     Task.detached { await overrides.apply { await checkOut() } }
///
/// This value keeps the overrides and their instances alive.
public struct InjectOverrides: Sendable {
  private let layer: Layer?

  private init(_ layer: Layer?) { self.layer = layer }

  /// The overrides that the caller sees; empty if there are none.
  public static var current: InjectOverrides { InjectOverrides(Layer.current) }

  /// Whether there are no overrides.
  public var isEmpty: Bool { layer == nil }

  /// Runs `body` with these overrides, and no others.
  ///
  /// - Parameter body: what is run.
  /// - Returns: what `body` returns.
  public func apply<Result>(_ body: () throws -> Result) rethrows -> Result {
    try Layer.$current.withValue(layer, operation: body)
  }

  /// Runs an async `body` with these overrides, and no others.
  ///
  /// - Parameters:
  ///   - isolation: the actor to stay on; the caller's.
  ///   - body: what is run.
  /// - Returns: what `body` returns.
  public func apply<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async rethrows -> Result {
    try await Layer.$current.withValue(layer, operation: body, isolation: isolation)
  }
}
