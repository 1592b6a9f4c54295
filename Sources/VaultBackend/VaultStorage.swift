public import CryptoCore
public import StorageCore
internal import Synchronization

public import struct Foundation.Data
public import struct Foundation.URL

/// Values in one encrypted file, sealed, durable and shared by any number of processes.
///
/// See ``VaultDelegate`` for how it keeps them.
public final class VaultStorage: DelegatedStorage, StandardStorage, @unchecked Sendable {
  // Adds an immutable reference to DelegatedStorage.
  let delegate: VaultDelegate

  /// The storage that `@Vault` and its family use; in a test with stores of its own, the test's.
  ///
  /// Its file is ``standardPath(applicationID:)`` of the application, its key comes from the key
  /// source of `SecureStorage.bootstrap(applicationID:keySource:)`, which is to be called before.
  public static var standard: VaultStorage {
    TestStores.inUse?.kept { VaultStorage(authenticationTag: nil) } ?? program
  }

  private static let program = VaultStorage(authenticationTag: nil)

  /// The vault at a place of the caller's choice.
  ///
  /// The file is looked at, or made, at the first use; `open()` does it now.
  ///
  /// - Parameters:
  ///   - url: an absolute file URL. A missing folder is made for the owner alone; one that others
  ///     can write to is refused. No vault is made whose name ends in `-wal`, `-shm`, `-journal` or
  ///     `-notice`, as those of the files beside one do.
  ///   - keySource: where the key comes from.
  ///   - access: what it is opened for.
  ///   - folderTrust: who may write to its folder and those on the way, besides this user and root:
  ///     `.processGroup` for a volume of a container.
  ///   - algorithm: what seals, if the vault is new; one that exists keeps its own.
  ///   - authenticationTag: further data that must match when a value is opened; it is not stored.
  ///   - deadline: how long a call waits for other processes before it is the error `busy`.
  ///   - errorClosure: takes the errors of calls that can't throw.
  public convenience init(
    at url: URL, keySource: KeySource, access: VaultAccess = .readWrite,
    folderTrust: FolderTrust = .owner, algorithm: AEADAlgorithm = .aes256GCM,
    authenticationTag: Data? = nil, deadline: Duration = VaultDelegate.standardDeadline,
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

  /// The vault at the path that `path` gives at the first use.
  ///
  /// - Parameters:
  ///   - isBootstrapped: whether it is the program's own, used as `SecureStorage.bootstrap` says.
  ///   - keySource: where the key comes from.
  ///   - access: what another one is opened for.
  ///   - path: gives the path.
  package convenience init(
    isBootstrapped: Bool = false, keySource: KeySource, access: VaultAccess = .readWrite,
    path: @escaping @Sendable () throws(StorageError) -> String
  ) {
    let use = isBootstrapped ? VaultDelegate.Use.bootstrapped : VaultDelegate.Use.of(access, .owner)
    self.init(VaultDelegate(use, path: path), keySource: keySource)
  }

  /// What the file is opened for.
  package var access: VaultAccess { delegate.access }

  /// Whether the vault has to be there, and is never made.
  package var isRequired: Bool {
    get throws(StorageError) { try delegate.vault().makesNothing }
  }

  /// Who may write to the folder, besides this user and root.
  package var folderTrust: FolderTrust { delegate.folderTrust }

  /// The storage over a delegate, or over one in its place for the records.
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
  /// - Throws: `StorageError`: `invalid`, `denied` and the like for a path that no vault can have.
  package func resolvedPath() throws(StorageError) -> String { try delegate.vault().file.path }

  /// Where the standard vault of an application is.
  ///
  /// `$STATE_DIRECTORY/default.vault` under systemd, else
  /// `$XDG_DATA_HOME/<application id>/default.vault`, with `.local/share` in the home folder where
  /// `XDG_DATA_HOME` is not set.
  ///
  /// - Parameter applicationID: the application's id, as given to `SecureStorage.bootstrap`.
  /// - Returns: an absolute path; there need not be anything.
  /// - Throws: `StorageError`: `unavailable` when the environment names no such folder, `invalid` for
  ///   an application id that can't name one.
  public static func standardPath(applicationID: String) throws(StorageError) -> String {
    try StandardFolders.data(application: applicationID) + "/default.vault"
  }
}
