public import Testing

/// A trait that gives each test its own standard storages.
///
///     @Suite(.storage()) struct SettingsTests {
///       @Test func theFirstLaunchIsCounted() throws {
///         let settings = Settings()  // has a property @UnwrappedVault("launches")
///         try settings.countLaunch()
///         #expect(settings.launches == 1)
///       }
///     }
///
/// The test then has its own `@Vault`, `@UserDefault`, `@Keychain`, `@Singleton` and their
/// families, its own `VaultStorage.standard` and the like, `VaultStorage(authenticationTag:)` and
/// `SymmetricKey.generate(key:)`. Tests may therefore run in parallel. On a suite, the trait
/// applies to each of its tests and to each case of a test.
///
/// The storages belong to the test's task and reach the tasks that it starts. A wrapper created in
/// the test keeps the test's storage, wherever it is used. A wrapper created elsewhere, such as a
/// global variable, uses the test's storage when the test's tasks use it. In a detached task, a
/// thread or a queue, it uses the storage it was created with, and a wrapper created there uses the
/// program's own storage. A storage at an explicit place, such as `VaultStorage(at:keySource:)`,
/// stays where it is. So do plain secrets of the keyring.
///
/// A storage of the test is the test's alone. If a static property or a registered singleton keeps
/// it, such as `let storage = VaultStorage.standard`, every use in another test is the error
/// `invalid`, and so is every use outside of tests after this test.
///
/// The body of an exit test runs in another process, to which no trait applies. A standard storage
/// is the error `invalid` there, unless the body calls ``TestStorage/run(_:)``:
///
///     await #expect(processExitsWith: .failure) {
///       try TestStorage.inMemory.run { Settings().requireLicense() }
///     }
public struct StorageTrait: TestTrait, SuiteTrait, TestScoping {
  let storage: TestStorage

  /// Each test of a suite gets its own storages; the tests do not share them.
  public var isRecursive: Bool { true }

  /// Runs a test, or one of its cases, with its own storages.
  ///
  /// - Parameters:
  ///   - test: the test.
  ///   - testCase: the test's case.
  ///   - function: runs the test.
  /// - Throws: what the test throws, or why a temporary folder can't be created or removed.
  public func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @Sendable () async throws -> Void
  ) async throws {
    try await storage.run(as: "\"\(test.displayName ?? test.name)\"") { try await function() }
  }
}

extension Trait where Self == StorageTrait {
  /// Gives each test its own, empty standard storages.
  ///
  /// - Parameter storage: where the storages keep their values.
  /// - Returns: the trait.
  public static func storage(_ storage: TestStorage = .inMemory) -> Self {
    StorageTrait(storage: storage)
  }
}
