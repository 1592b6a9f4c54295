/// What a store that machines share does over every engine.
package struct EnginePromise: CustomStringConvertible, Sendable {
  package let description: String
  private let body: @Sendable (any FleetEngine) async throws -> Void

  init(_ description: String, _ body: @escaping @Sendable (any FleetEngine) async throws -> Void) {
    (self.description, self.body) = (description, body)
  }

  /// Tries it.
  package func check(over engine: any FleetEngine) async throws { try await body(engine) }
}
