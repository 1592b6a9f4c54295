public import XCTest

/// A test case of XCTest, each of whose tests has standard storages of its own.
///
///     final class SettingsTests: StorageTestCase {
///       func testTheFirstLaunchIsCounted() throws {
///         let settings = Settings()  // has a property @UnwrappedVault("launches")
///         try settings.countLaunch()
///         XCTAssertEqual(settings.launches, 1)
///       }
///     }
///
/// They are there for `setUp`, the test and `tearDown`, and reach async tests, too. The test case itself
/// is made before: make what has properties in `setUp` or in the test. A test case with another base
/// class calls ``TestStorage/run(_:)``.
open class StorageTestCase: XCTestCase {
  /// Where the storages are; `.inMemory` unless it is overridden.
  open var storage: TestStorage { .inMemory }

  /// Runs a test with storages of its own.
  open override func invokeTest() {
    do {
      try storage.run { super.invokeTest() }
    } catch {
      XCTFail("the test's storages could not be made or removed: \(error)")
    }
  }
}

// XCTest runs a test case on one thread, and a subclass may have any state.
@available(*, unavailable)
extension StorageTestCase: Sendable {}
