public import Testing

/// A trait that gives each test standard storages of its own.
///
///     @Suite(.storage()) struct SettingsTests {
///       @Test func theFirstLaunchIsCounted() throws {
///         let settings = Settings()  // has a property @UnwrappedVault("launches")
///         try settings.countLaunch()
///         #expect(settings.launches == 1)
///       }
///     }
///
/// `@Vault`, `@UserDefault`, `@Keychain`, `@Singleton`, their families, `VaultStorage.standard` and the
/// like, `VaultStorage(authenticationTag:)` and `SymmetricKey.generate(key:)` are the test's own then, so
/// tests may run side by side. On a suite it counts for each of its tests and each case of one.
///
/// It belongs to the task, and reaches the tasks that the test starts. A wrapper that is made in the test
/// keeps the test's storage, wherever it is used. A wrapper that is made elsewhere, as that of a global
/// variable, is the test's where the test's tasks use it; where a detached task, a thread or a queue uses
/// one, it is what it was made as. What is made there is the program's own. A storage at a place of its
/// own, as `VaultStorage(at:keySource:)`, stays where it is, and so do plain secrets of the keyring.
public struct StorageTrait: TestTrait, SuiteTrait, TestScoping {
  let storage: TestStorage

  /// Each test of a suite gets storages of its own, and not all of them the same.
  public var isRecursive: Bool { true }

  /// Runs a test, or a case of one, with storages of its own.
  ///
  /// - Parameters:
  ///   - test: the test.
  ///   - testCase: its case.
  ///   - function: runs it.
  /// - Throws: what the test throws, or why a temporary folder can't be made or removed.
  public func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @Sendable () async throws -> Void
  ) async throws {
    try await storage.run { try await function() }
  }
}

extension Trait where Self == StorageTrait {
  /// Gives each test standard storages of its own, which are empty.
  ///
  /// - Parameter storage: where they are.
  /// - Returns: the trait.
  public static func storage(_ storage: TestStorage = .inMemory) -> Self {
    StorageTrait(storage: storage)
  }
}
