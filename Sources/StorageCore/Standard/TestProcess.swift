internal import CryptoCore
internal import Glibc

/// Whether this process runs tests, which should leave the data of the program alone.
enum TestProcess {
  /// The names and variables of `swift test`, of Xcode and of Swift Testing's own runner.
  private static let isOne: Bool = {
    let name = SecureStorage.executableName
    return name.hasSuffix(".xctest") || name == "swiftpm-testing-helper"
      || StandardFolders.environment("XCTestConfigurationFilePath") != nil
      || StandardFolders.environment("XCTestBundlePath") != nil
  }()
  private static let warned = Lock(false)

  /// Says once, in a process of tests, that data of the program itself is used.
  ///
  /// Not where SPS_PRIVATE_ENVIRONMENT says that the home folder is there for the tests.
  static func warn(of use: String) {
    guard isOne, StandardFolders.environment("SPS_PRIVATE_ENVIRONMENT") == nil else { return }
    let isFirst = warned.withLock { warned in
      defer { warned = true }
      return !warned
    }
    guard isFirst else { return }
    StorageDiagnostics.say(
      "these tests use the real data of \"\(SecureStorage.configuration.applicationID)\" in the user's "
        + "home folder: \(use) was used, and not inside of .storage(). Give the test stores of its own with "
        + "the trait .storage() of StorageTesting, or with StorageTestCase for XCTest. Where the home folder "
        + "is there for the tests, set SPS_PRIVATE_ENVIRONMENT=1")
  }
}
