public import Testing

/// A trait that gives each test a registry of its own.
///
///     @Test(.injecting { @Register var api: any API = TestClient() })
///     func aFailedPaymentKeepsTheCart() async throws { ... }
///
/// What `.injecting` registers is seen by its test and by the tasks that this starts, and by no
/// other test, so tests may run side by side. What the program has registered as a builder is built
/// anew for the test. On a suite it counts for each of its tests; traits of a test come after those
/// of its suite, and win.
public struct InjectingTrait: TestTrait, SuiteTrait, TestScoping {
  private let strictness: InjectStrictness
  private let overrides: @Sendable () async throws -> Void

  init(_ strictness: InjectStrictness, _ overrides: @escaping @Sendable () async throws -> Void) {
    self.strictness = strictness
    self.overrides = overrides
  }

  /// Each test of a suite gets a registry of its own, and not all of them one.
  public var isRecursive: Bool { true }

  /// Runs a test, or a case of one, with the overrides.
  ///
  /// - Parameters:
  ///   - test: the test.
  ///   - testCase: its case.
  ///   - function: runs it.
  /// - Throws: what the overrides or the test throw.
  public func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @Sendable () async throws -> Void
  ) async throws {
    let handler = strictness.isStrict ? Self.fail : nil
    try await InjectStorage.standard.withFreshOverrides(strictHandler: handler) {
      try await overrides()
      try await function()
    }
  }

  /// Fails the current test where the dependency is injected.
  private static let fail: @Sendable (InjectError) -> Void = { error in
    let comment = Comment(rawValue: "InjectError.\(error)")
    guard let location = error.location else {
      Issue.record(comment)
      return
    }
    // The path of the file is not kept: it would put the builder's folders into every program.
    let place = SourceLocation(
      fileID: location.fileID, filePath: location.fileID, line: Int(location.line),
      column: Int(location.column))
    Issue.record(comment, sourceLocation: place)
  }
}

extension Trait where Self == InjectingTrait {
  /// Gives each test a registry of its own, with what `overrides` registers.
  ///
  /// - Parameters:
  ///   - strictness: what the test may use besides; `.lenient` unless said otherwise.
  ///   - overrides: registers doubles, once for each test and each case of one.
  /// - Returns: the trait.
  public static func injecting(
    _ strictness: InjectStrictness = .lenient,
    _ overrides: @escaping @Sendable () async throws -> Void = {}
  ) -> Self {
    InjectingTrait(strictness, overrides)
  }
}
