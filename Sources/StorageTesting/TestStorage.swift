internal import Foundation
internal import SingletonBackend
internal import StorageCore

/// Where a test keeps the values of the standard storages.
public struct TestStorage: Hashable, Sendable {
  let isInFolder: Bool

  /// In memory: nothing must be removed, and no call waits for a disk.
  ///
  /// Calls that need a file, such as a vault's `verify` and `backup`, are the error `unsupported`.
  public static let inMemory = TestStorage(isInFolder: false)

  /// In files of a temporary folder, which is removed after the test.
  ///
  /// `@Vault` and `@UserDefault` then run the same code as in the program. `@Keychain` and
  /// `@Singleton` stay in memory; KeyringTesting has a keyring for tests.
  public static let temporaryFolder = TestStorage(isInFolder: true)

  /// Runs `body` with its own standard storages, for test frameworks that have no traits.
  ///
  ///     try TestStorage.inMemory.run {
  ///       let settings = Settings()  // has a property @Vault("launches")
  ///       settings.launches = 1
  ///     }
  ///
  /// The trait ``StorageTrait`` does the same, and its documentation says which storages are
  /// affected.
  ///
  /// - Parameter body: the code to run.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws, or why a temporary folder can't be created or removed.
  public func run<Result>(_ body: () throws -> Result) throws -> Result {
    try run(as: nil, body)
  }

  /// The same, for a test of that name.
  func run<Result>(as title: String?, _ body: () throws -> Result) throws -> Result {
    let folder = try makeFolder()
    let result = Swift.Result { try stores(of: title, in: folder).run(body) }
    try remove(folder)
    return try result.get()
  }

  /// Runs an async `body` with its own standard storages.
  ///
  /// - Parameters:
  ///   - isolation: the actor to stay on; by default the caller's.
  ///   - body: the code to run.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws, or why a temporary folder can't be created or removed.
  public func run<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async throws -> Result {
    try await run(as: nil, isolation: isolation, body)
  }

  /// The same, for a test of that name.
  func run<Result>(
    as title: String?, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Result
  ) async throws -> Result {
    let folder = try makeFolder()
    do {
      let result = try await stores(of: title, in: folder).run(isolation: isolation, body)
      try remove(folder)
      return result
    } catch {
      // The error of the test is more useful than an error of the removal.
      try? remove(folder)
      throw error
    }
  }

  private func stores(of title: String?, in folder: URL?) -> TestStores {
    TestStores(of: title, folder: folder?.path(percentEncoded: false)) {
      SingletonStorageDelegate()
    }
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
