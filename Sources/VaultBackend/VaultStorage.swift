public import CryptoCore
public import StorageCore
internal import Synchronization

public import struct FoundationEssentials.Data
public import struct FoundationEssentials.URL

/// Values in one encrypted file, sealed, durable and shared by any number of processes.
///
/// The file is SQLite's, with a write-ahead log; docs/file-format.md has the format. A write is
/// durable before it returns, also against a loss of power; threads that write at the same time
/// share the sync. A read comes from memory and sees every write that any process has finished
/// before the read began. In each tick of the clock, 1 to 10 ms, one read checks that the path still
/// leads to the same file. All storages of one file in a process share their memory.
public final class VaultStorage: DelegatedStorage, StandardStorage, @unchecked Sendable {
  // Adds an immutable reference to DelegatedStorage.
  let delegate: VaultDelegate

  /// The storage that `@Vault` and its family use; in a test with its own stores, the test's vault.
  ///
  /// Its file is ``standardPath(applicationID:)`` of the application. Its key comes from the key
  /// source that you pass to `SecureStorage.bootstrap(applicationID:keySource:)` before.
  public static var standard: VaultStorage {
    TestStores.inUse?.kept { VaultStorage(authenticationTag: nil) } ?? program
  }

  private static let program = VaultStorage(authenticationTag: nil)

  /// The vault at a path that you choose.
  ///
  /// The first use opens or creates the file; `open()` does it now.
  ///
  /// - Parameters:
  ///   - url: an absolute file URL. A missing folder is created for the owner alone; a folder that
  ///     others can write to is refused. The name of a new vault must not end in `-wal`, `-shm`,
  ///     `-journal` or `-notice`, because the files beside a vault have such names.
  ///   - keySource: where the key comes from.
  ///   - access: what the file is opened for.
  ///   - folderTrust: who may write to the folder and those above it, besides this user and root:
  ///     `.processGroup` for a volume of a container.
  ///   - algorithm: the cipher of a new vault; an existing vault keeps its own.
  ///   - authenticationTag: further data that must match when a value is opened; it is not stored.
  ///   - deadline: how long a call waits for other processes before it throws `busy`.
  ///   - errorClosure: gets the errors of calls that can't throw.
  public convenience init(
    at url: URL, keySource: KeySource, access: StoreAccess = .readWrite,
    folderTrust: FolderTrust = .owner, algorithm: AEADAlgorithm = .aes256GCM,
    authenticationTag: Data? = nil, deadline: Duration = .seconds(5),
    errorClosure: StorageErrorClosure? = nil
  ) {
    self.init(
      VaultDelegate(at: url, access: access, folderTrust: folderTrust, deadline: deadline),
      keySource: keySource, algorithm: algorithm, authenticationTag: authenticationTag,
      errorClosure: errorClosure)
  }

  /// The standard vault, with the bootstrapped key source, under an authentication tag.
  ///
  /// - Parameter authenticationTag: further data that must match when a value is opened; it is not
  ///   stored.
  public convenience init(authenticationTag: Data? = nil) {
    guard let test = TestStores.inUse else {
      self.init(
        VaultDelegate(VaultDelegate.Use.bootstrapped) { () throws(StorageError) in
          try Self.standardPath(
            applicationID: SecureStorage.configuration(for: "the standard vault")
              .applicationID)
        },
        keySource: .bootstrapped, authenticationTag: authenticationTag)
      return
    }
    let path = test.folder.map { $0 + "/default.vault" }
    self.init(
      VaultDelegate(VaultDelegate.Use.of(.readWrite, .owner)) { () throws(StorageError) in
        guard let path else { throw TestStores.hasNoFile }
        return path
      },
      records: path == nil ? test.delegate(of: "vault") : nil, keySource: test.keySource,
      authenticationTag: authenticationTag)
  }

  /// The vault at the path that `path` returns at the first use.
  ///
  /// - Parameters:
  ///   - isBootstrapped: whether `SecureStorage.bootstrap` says how the vault is opened.
  ///   - keySource: where the key comes from.
  ///   - access: what the file is opened for, unless `isBootstrapped`.
  ///   - path: returns the path.
  package convenience init(
    isBootstrapped: Bool = false, keySource: KeySource, access: StoreAccess = .readWrite,
    path: @escaping @Sendable () throws(StorageError) -> String
  ) {
    let use = isBootstrapped ? VaultDelegate.Use.bootstrapped : VaultDelegate.Use.of(access, .owner)
    self.init(VaultDelegate(use, path: path), keySource: keySource)
  }

  /// What the file is opened for.
  package var access: StoreAccess { delegate.allowance }

  /// Throws `readOnly` if the vault was opened read-only.
  package func requireWritable() throws(StorageError) { try delegate.requireWritable() }

  /// Whether a missing vault is an error and is not created.
  package var isRequired: Bool {
    get throws(StorageError) { try delegate.vault().writer.makesNothing }
  }

  /// Who may write to the folder, besides this user and root.
  package var folderTrust: FolderTrust { delegate.folderTrust }

  /// The storage over a delegate, or over `records` in its place.
  init(
    _ delegate: VaultDelegate, records: (any RecordPlace)? = nil, keySource: KeySource,
    algorithm: AEADAlgorithm = .aes256GCM, authenticationTag: Data? = nil,
    errorClosure: StorageErrorClosure? = nil
  ) {
    self.delegate = delegate
    super.init(
      records ?? delegate, keySource: keySource, algorithm: algorithm,
      authenticationTag: authenticationTag, errorClosure: errorClosure)
  }

  /// The path of the file, without links.
  ///
  /// - Throws: `StorageError`, such as `invalid` or `denied`, for a path that no vault can have.
  package func resolvedPath() throws(StorageError) -> String { try delegate.vault().file.path }

  /// Where the standard vault of an application is.
  ///
  /// `$STATE_DIRECTORY/default.vault` under systemd, else
  /// `$XDG_DATA_HOME/<application id>/default.vault`, with `.local/share` in the home folder where
  /// `XDG_DATA_HOME` is not set.
  ///
  /// - Parameter applicationID: the application's id, as given to `SecureStorage.bootstrap`.
  /// - Returns: an absolute path; the file need not exist.
  /// - Throws: `StorageError`: `unavailable` when the environment names no such folder, `invalid`
  ///   for an application id that can't be the name of a folder.
  public static func standardPath(applicationID: String) throws(StorageError) -> String {
    try StandardFolders.data(application: applicationID) + "/default.vault"
  }
}
