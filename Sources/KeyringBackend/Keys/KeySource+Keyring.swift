public import StorageCore

extension KeySource {
  /// The key of the application in the desktop's keyring, which is made if the store is new.
  ///
  /// The application is that of `SecureStorage.bootstrap(applicationID:keySource:)`. See
  /// ``keyring(_:collection:access:)``.
  public static var keyring: KeySource {
    KeySource(deferred: { .keyring(SecureStorage.configuration.applicationID) })
  }

  /// A key in the desktop's keyring, which is made if the store is new.
  ///
  /// The key is an item with the attributes `xdg:schema` = `SecurePropertyStorage.Key` and `name`,
  /// found in any collection, whose secret is standard Base64 of 32 bytes; `secret-tool lookup`
  /// prints it for a backup. The key counts as absent where there is no session bus, no service on
  /// it, no default collection, or no such item. A collection that stays locked is the error
  /// `locked`; a service that does not encrypt secrets on the bus is `unsupported`, unless
  /// ``KeyringAccess/allowsPlainKeys`` allows it.
  ///
  /// - Parameters:
  ///   - name: the name of the key, such as the application's id; kept in the store in the clear.
  ///   - collection: where a new one is made, by alias or label; nil for the default collection.
  ///   - access: how long it waits, and whether it may ask the user.
  /// - Returns: the source.
  public static func keyring(
    _ name: String, collection: String? = nil, access: KeyringAccess = .standard
  ) -> KeySource {
    .keyring(KeyringKey(name: name, collection: collection, access: access, client: access.client))
  }

  static func keyring(_ key: KeyringKey) -> KeySource {
    var candidate = Candidate(.keyring, key.name) { () throws(StorageError) in try key.read() }
    candidate.make = { () throws(StorageError) in try key.make() }
    candidate.absence = { key.absence }
    return KeySource([candidate])
  }

  /// For programs that run on desktops and on servers: the systemd credential `securestorage-key`,
  /// else the key in the desktop's keyring, else the key file `master.key`.
  ///
  /// The store records which source created it and accepts only that source from then on: a store
  /// whose key is in the keyring does not open without the keyring. A new store is made with the
  /// key file only where there is no keyring; a locked keyring is the error `locked`.
  public static var desktop: KeySource { desktop(access: .standard) }

  /// The same, with options for its calls of the keyring.
  ///
  /// - Parameter access: how long they wait, and whether they may ask the user.
  /// - Returns: the source.
  public static func desktop(access: KeyringAccess) -> KeySource {
    let keyring = KeySource(deferred: {
      .keyring(SecureStorage.configuration.applicationID, access: access)
    })
    return .firstAvailable([.standardCredential, keyring, .masterKeyFile])
  }
}
