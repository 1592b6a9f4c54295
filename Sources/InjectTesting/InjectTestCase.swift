public import XCTest

/// A test case of XCTest, each of whose tests has a registry of its own.
///
///     final class CheckoutTests: InjectTestCase {
///       override func registerOverrides() { @Register var api: any API = TestClient() }
///     }
///
/// What is registered in ``registerOverrides()``, in `setUp` and in the test is gone after the
/// test. It reaches async tests, too.
open class InjectTestCase: XCTestCase {
  /// What the tests may use besides their doubles; `.lenient` unless it is overridden.
  open var strictness: InjectStrictness { .lenient }

  /// Registers doubles, before each test's `setUp`.
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
