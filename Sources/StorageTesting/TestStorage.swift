internal import Foundation
internal import SingletonBackend
internal import StorageCore

/// Where a test keeps what it stores in the standard storages.
public struct TestStorage: Hashable, Sendable {
  let isInFolder: Bool

  /// In memory: nothing to remove, and nothing waits for a disk.
  ///
  /// What needs a file, as a vault's `verify` and `backup`, is the error `unsupported`.
  public static let inMemory = TestStorage(isInFolder: false)

  /// In files of a temporary folder, which is removed after the test.
  ///
  /// `@Vault` and `@UserDefault` then use the code that the program uses. `@Keychain` and `@Singleton` are
  /// in memory here, too; a keyring for tests is in KeyringTesting.
  public static let temporaryFolder = TestStorage(isInFolder: true)

  /// Runs `body` with standard storages of its own, for a test framework that has no traits.
  ///
  ///     try TestStorage.inMemory.run {
  ///       let settings = Settings()  // has a property @Vault("launches")
  ///       settings.launches = 1
  ///     }
  ///
  /// The trait ``StorageTrait`` does the same, and says what is reached.
  ///
  /// - Parameter body: what is run.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws, or why a temporary folder can't be made or removed.
  public func run<Result>(_ body: () throws -> Result) throws -> Result {
    let folder = try makeFolder()
    let result = Swift.Result {
      try TestStores.$current.withValue(stores(in: folder), operation: body)
    }
    try remove(folder)
    return try result.get()
  }

  /// Runs an async `body` with standard storages of its own.
  ///
  /// - Parameters:
  ///   - isolation: the actor to stay on; the caller's.
  ///   - body: what is run.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws, or why a temporary folder can't be made or removed.
  public func run<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async throws -> Result {
    let folder = try makeFolder()
    do {
      let result = try await TestStores.$current.withValue(
        stores(in: folder), operation: body, isolation: isolation)
      try remove(folder)
      return result
    } catch {
      // What the test throws says more.
      try? remove(folder)
      throw error
    }
  }

  private func stores(in folder: URL?) -> TestStores {
    TestStores(folder: folder?.path(percentEncoded: false)) { SingletonStorageDelegate() }
  }

  private func makeFolder() throws -> URL? {
    guard isInFolder else { return nil }
    let name = "SecurePropertyStorage-\(UUID().uuidString)"
    let folder = FileManager.default.temporaryDirectory.appending(path: name)
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    return folder
  }

  private func remove(_ folder: URL?) throws {
    if let folder { try FolderRemoval.remove(folder) }
  }
}
