public import Testing

/// A trait that gives each test its own registry.
///
///     @Test(.injecting { @Register var api: any API = TestClient() })
///     func aFailedPaymentKeepsTheCart() async throws { ... }
///
/// Only the test, and the tasks that it starts, see what `.injecting` registers. Tests may
/// therefore run in parallel. If the program has registered a builder, the test gets a newly built
/// instance. On a suite, the trait applies to each of its tests. Traits of a test run after those
/// of its suite, and win.
public struct InjectingTrait: TestTrait, SuiteTrait, TestScoping {
  private let strictness: InjectStrictness
  private let overrides: @Sendable () async throws -> Void

  init(_ strictness: InjectStrictness, _ overrides: @escaping @Sendable () async throws -> Void) {
    self.strictness = strictness
    self.overrides = overrides
  }

  /// Each test of a suite gets its own registry; the tests do not share one.
  public var isRecursive: Bool { true }

  /// Runs a test, or one of its cases, with the overrides.
  ///
  /// - Parameters:
  ///   - test: the test.
  ///   - testCase: the test's case.
  ///   - function: runs the test.
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

  /// Fails the current test at the injection's source position.
  private static let fail: @Sendable (InjectError) -> Void = { error in
    let comment = Comment(rawValue: "InjectError.\(error)")
    guard let location = error.location else {
      Issue.record(comment)
      return
    }
    // The file's path is not stored: it would put the builder's folders into every program.
    let place = SourceLocation(
      fileID: location.fileID, filePath: location.fileID, line: Int(location.line),
      column: Int(location.column))
    Issue.record(comment, sourceLocation: place)
  }
}

extension Trait where Self == InjectingTrait {
  /// Gives each test its own registry, with what `overrides` registers.
  ///
  /// - Parameters:
  ///   - strictness: what the test may use besides its own doubles; `.lenient` by default.
  ///   - overrides: registers doubles, once for each test and each of its cases.
  /// - Returns: the trait.
  public static func injecting(
    _ strictness: InjectStrictness = .lenient,
    _ overrides: @escaping @Sendable () async throws -> Void = {}
  ) -> Self {
    InjectingTrait(strictness, overrides)
  }
}
