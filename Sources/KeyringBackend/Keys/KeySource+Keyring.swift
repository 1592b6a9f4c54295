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
  /// It is an item with the attributes `xdg:schema` = `SecurePropertyStorage.Key` and `name`, found
  /// in whatever collection it is, whose secret is standard Base64 of 32 bytes; `secret-tool lookup`
  /// prints it for a backup. It is absent where there is no session bus, no service on it, no default
  /// collection, or no such item. A collection that is locked and stays so is the error `locked`, and a
  /// service that does not encrypt what crosses the bus is `unsupported`, unless
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
    KeySource([
      Candidate(
        kind: .keyring, identifier: key.name,
        read: { () throws(StorageError) in try key.read() },
        make: { () throws(StorageError) in try key.make() },
        absence: { key.absence })
    ])
  }

  /// For programs that run on desktops and on servers: the systemd credential `securestorage-key`,
  /// else the key in the desktop's keyring, else the key file `master.key`.
  ///
  /// What was chosen when the store was made is recorded in it. From then on that one is asked and no
  /// other: a store whose key is in the keyring does not open without it. A new store is made with
  /// the key file only where there is no keyring; one that is locked is the error `locked`.
  public static var desktop: KeySource { desktop(access: .standard) }

  /// The same, and how its calls of the keyring behave.
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
