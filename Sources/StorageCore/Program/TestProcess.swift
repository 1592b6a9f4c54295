internal import CryptoCore
internal import Glibc

/// Whether this process runs tests, which should not touch the program's data.
enum TestProcess {
  /// The process names and variables of `swift test`, Xcode and Swift Testing's own runner.
  private static let isOne: Bool = {
    let name = SecureStorage.executableName
    return name.hasSuffix(".xctest") || name == "swiftpm-testing-helper"
      || StandardFolders.environment("XCTestConfigurationFilePath") != nil
      || StandardFolders.environment("XCTestBundlePath") != nil
  }()
  private static let warned = Lock(false)

  /// In a test process, reports once that the program's own data is used.
  ///
  /// Reports nothing when SPS_PRIVATE_ENVIRONMENT says that the home folder is for tests only.
  static func warn(of use: String) {
    guard isOne, StandardFolders.environment("SPS_PRIVATE_ENVIRONMENT") == nil else { return }
    let isFirst = warned.withLock { warned in
      defer { warned = true }
      return !warned
    }
    guard isFirst else { return }
    StorageDiagnostics.say(
      "these tests use the real data of \"\(SecureStorage.configuration.applicationID)\" in the user's "
        + "home folder: \(use) was used outside of .storage(). Give the test its own stores with the "
        + "trait .storage() of StorageTesting, or with StorageTestCase for XCTest. If the home folder "
        + "exists only for the tests, set SPS_PRIVATE_ENVIRONMENT=1")
  }
}
