/// The overrides of a task, to be carried to where they don't go by themselves.
///
///     let overrides = InjectOverrides.current
///     queue.async { overrides.apply { checkOut() } }
///     Task.detached { await overrides.apply { await checkOut() } }
///
/// It holds the overrides, and with them their instances, for as long as it lives.
public struct InjectOverrides: Sendable {
  private let layer: Layer?

  private init(_ layer: Layer?) { self.layer = layer }

  /// The overrides that the caller sees; none where there are none.
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
