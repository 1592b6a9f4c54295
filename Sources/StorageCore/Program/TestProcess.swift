internal import CryptoCore
internal import Glibc

/// Whether this process runs tests, which should not touch the program's data.
enum TestProcess {
  /// The process names and variables of `swift test`, Xcode and Swift Testing's own runner.
  private static let isOne: Bool = {
    let name = SecureStorage.executableName
    return name.hasSuffix(".xctest") || name == "swiftpm-testing-helper"
      || StandardFolders.isSet("XCTestConfigurationFilePath")
      || StandardFolders.isSet("XCTestBundlePath")
  }()
  private static let warned = Lock(false)

  /// Whether this process runs the body of an exit test, to which no trait applies.
  ///
  /// Swift Testing names the exit test in a variable of the child, and removes the variable before
  /// the body runs. proc_pid_environ(5): the file still has what the process was started with.
  private static let isOfExitTest: Bool = {
    guard var bytes = environmentAtStart() else { return false }
    defer { Wipe.bytes(&bytes) }
    return bytes.split(separator: 0).contains { $0.starts(with: Array("SWT_EXIT_TEST_ID=".utf8)) }
  }()

  /// Nil if /proc can't be read.
  private static func environmentAtStart() -> [UInt8]? {
    let file = unsafe open("/proc/self/environ", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    defer { Wipe.bytes(&buffer) }
    while true {
      let count = unsafe read(file, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return bytes }
      var longer = bytes + buffer.prefix(count)
      swap(&bytes, &longer)
      Wipe.bytes(&longer)
    }
  }

  /// Refuses the program's own data in the child of an exit test, and reports once in any other
  /// test process that it is used.
  ///
  /// Does nothing when SPS_PRIVATE_ENVIRONMENT says that the home folder is for tests only.
  ///
  /// - Throws: `StorageError`: `invalid` in the child of an exit test.
  static func check(_ use: String) throws(StorageError) {
    guard !StandardFolders.isSet("SPS_PRIVATE_ENVIRONMENT") else { return }
    guard !isOfExitTest else {
      throw StorageError(
        .invalid,
        "\(use) was used in the child process of an exit test, where the trait .storage() has no "
          + "effect, so the real data in the user's home folder would be used. Wrap the body of the "
          + "exit test in `try TestStorage.inMemory.run { ... }` of StorageTesting. If the home folder "
          + "exists only for the tests, set SPS_PRIVATE_ENVIRONMENT=1")
    }
    if isOne { warn(of: use) }
  }

  private static func warn(of use: String) {
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
