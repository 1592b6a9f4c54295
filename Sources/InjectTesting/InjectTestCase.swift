public import XCTest

/// An XCTest test case that gives each test its own registry.
///
///     final class CheckoutTests: InjectTestCase {
///       override func registerOverrides() { @Register var api: any API = TestClient() }
///     }
///
/// Everything that ``registerOverrides()``, `setUp` and the test register is removed after the
/// test. Async tests see these registrations too.
open class InjectTestCase: XCTestCase {
  /// What the tests may use besides their own doubles; override it to change the default,
  /// `.lenient`.
  open var strictness: InjectStrictness { .lenient }

  /// Registers doubles; called before each test's `setUp`.
  open func registerOverrides() {}

  /// Runs a test with the overrides.
  open override func invokeTest() {
    let handler: (@Sendable (InjectError) -> Void)? = strictness.isStrict ? Self.fail : nil
    InjectStorage.standard.withFreshOverrides(strictHandler: handler) {
      registerOverrides()
      super.invokeTest()
    }
  }

  private static let fail: @Sendable (InjectError) -> Void = { error in
    guard let location = error.location else { return XCTFail("InjectError.\(error)") }
    XCTFail("InjectError.\(error)", file: location.file, line: location.line)
  }
}

// XCTest runs a test case on one thread, and a subclass may have any state.
@available(*, unavailable)
extension InjectTestCase: Sendable {}
