extension KeySource {
  /// The systemd credential `securestorage-key`, else the key file `master.key` in the data folder.
  ///
  /// The key file is created if the store is new. The application's data folder is
  /// `$STATE_DIRECTORY` under systemd, else `$XDG_DATA_HOME/<application id>`.
  public static var automatic: KeySource {
    var source = KeySource.firstAvailable([.standardCredential, .masterKeyFile])
    source.isAutomatic = true
    return source
  }

  /// The credential `securestorage-key`.
  package static var standardCredential: KeySource { .systemdCredential("securestorage-key") }

  /// The key file `master.key` in the application's data folder.
  package static var masterKeyFile: KeySource {
    .file(named: "master.key", holdsKey: true) { () throws(StorageError) in try findMasterKeyFile()
    }
  }

  /// Called only when the file is needed, because only then may a faulty environment be an error.
  private static func findMasterKeyFile() throws(StorageError) -> KeyFile {
    let application = try SecureStorage.configuration(for: "the key file master.key")
      .applicationID
    return KeyFile(path: try StandardFolders.data(application: application) + "/master.key")
  }

  /// The source that the program was bootstrapped with, read when it is first needed.
  ///
  /// A property may be made before the program calls `bootstrap`.
  package static let bootstrapped = KeySource(deferred: { SecureStorage.configuration.keySource })
}
