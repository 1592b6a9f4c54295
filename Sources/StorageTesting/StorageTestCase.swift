public import XCTest

/// An XCTest test case that gives each test its own standard storages.
///
///     final class SettingsTests: StorageTestCase {
///       func testTheFirstLaunchIsCounted() throws {
///         let settings = Settings()  // has a property @UnwrappedVault("launches")
///         try settings.countLaunch()
///         XCTAssertEqual(settings.launches, 1)
///       }
///     }
///
/// The storages exist for `setUp`, the test and `tearDown`, and async tests use them too. The test
/// case itself is created earlier, so create objects with stored properties in `setUp` or in the
/// test. A test case with another base class calls ``TestStorage/run(_:)``.
open class StorageTestCase: XCTestCase {
  /// Where the storages keep their values; override it to change the default, `.inMemory`.
  open var storage: TestStorage { .inMemory }

  /// Runs a test with its own storages.
  open override func invokeTest() {
    do {
      try storage.run(as: name) { super.invokeTest() }
    } catch {
      XCTFail("the test's storages could not be created or removed: \(error)")
    }
  }
}

// XCTest runs a test case on one thread, and a subclass may have any state.
@available(*, unavailable)
extension StorageTestCase: Sendable {}
