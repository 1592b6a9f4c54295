public import CryptoCore
public import StorageCore

public import struct Foundation.Data
public import struct Foundation.URL

/// Values in one encrypted file, sealed, durable and shared by any number of processes.
///
/// See ``VaultDelegate`` for how it keeps them.
public final class VaultStorage: DelegatedStorage, StandardStorage, @unchecked Sendable {
  // Adds an immutable reference to DelegatedStorage.
  let delegate: VaultDelegate

  /// The storage that `@Vault` and its family use.
  ///
  /// Its file is ``standardPath(applicationID:)`` of the application, its key comes from the key
  /// source of `SecureStorage.bootstrap(applicationID:keySource:)`, which is to be called before.
  public static let standard = VaultStorage(authenticationTag: nil)

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
  ///   - algorithm: what seals, if the vault is new; one that exists keeps its own.
  ///   - authenticationTag: further data that must match when a value is opened; it is not stored.
  ///   - deadline: how long a call waits for other processes before it is the error `busy`.
  ///   - errorClosure: takes the errors of calls that can't throw.
  public convenience init(
    at url: URL, keySource: KeySource, access: VaultAccess = .readWrite,
    algorithm: AEADAlgorithm = .aes256GCM, authenticationTag: Data? = nil,
    deadline: Duration = VaultDelegate.standardDeadline,
    errorClosure: StorageErrorClosure? = nil
  ) {
    self.init(
      VaultDelegate(at: url, access: access, deadline: deadline), keySource: keySource,
      algorithm: algorithm, authenticationTag: authenticationTag, errorClosure: errorClosure)
  }

  /// The standard vault, with the bootstrapped key source, under an authentication tag.
  ///
  /// - Parameter authenticationTag: further data that must match when a value is opened; it is not
  ///   stored.
  public convenience init(authenticationTag: Data? = nil) {
    self.init(
      VaultDelegate(access: .readWrite) { () throws(StorageError) in
        try Self.standardPath(
          applicationID: SecureStorage.configuration.validated().applicationID)
      },
      keySource: .bootstrapped, authenticationTag: authenticationTag)
  }

  /// The storage over a delegate.
  init(
    _ delegate: VaultDelegate, keySource: KeySource, algorithm: AEADAlgorithm = .aes256GCM,
    authenticationTag: Data? = nil, errorClosure: StorageErrorClosure? = nil
  ) {
    self.delegate = delegate
    super.init(
      delegate, keySource: keySource, algorithm: algorithm, authenticationTag: authenticationTag,
      errorClosure: errorClosure)
  }

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
