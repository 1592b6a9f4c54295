public import CryptoCore
public import StorageCore

public import struct Foundation.Data

/// Values in the desktop's keyring, sealed: GNOME Keyring, KeePassXC or KWallet.
///
/// See ``KeyringDelegate`` for how it keeps them. Other programs of the user see that the items are
/// there, and neither their names nor their values; plain secrets that are shared with them are
/// ``Keyring``'s. A value has at most 1 MiB; longer ones belong into a vault.
public final class KeychainStorage: DelegatedStorage, StandardStorage, @unchecked Sendable {
  // Adds immutable values to DelegatedStorage.

  /// The collection that was asked for; nil for the one that the store is in, or the default one.
  public let accessGroup: String?
  /// When the values can be read.
  public let accessible: Accessibility
  /// Whether the values are to be synchronized between devices; false, since nothing does that here.
  public let synchronizable: Bool

  /// The storage that `@Keychain` and its family use; in a test with stores of its own, the test's,
  /// which is in memory and asks no service.
  ///
  /// Its service is the application's id, its key comes from the key source of
  /// `SecureStorage.bootstrap(applicationID:keySource:)`, or from the keyring, where none was given
  /// there.
  public static var standard: KeychainStorage {
    TestStores.inUse?.kept { KeychainStorage() } ?? program
  }

  private static let program = KeychainStorage()

  /// The store of a service in the keyring.
  ///
  /// Nothing is looked at before the first use; `open()` does it now. What can't be had is an error at
  /// every use: `unsupported` for `synchronizable`, and for an accessibility that asks for a passcode,
  /// which a passphrase as the key source gives.
  ///
  /// - Parameters:
  ///   - service: whose store it is, such as the application's id.
  ///   - accessGroup: the collection, by its alias or its label; nil for the one that the store is in
  ///     already, or the default one for a new store.
  ///   - synchronizable: whether to synchronize between devices; the Secret Service can't.
  ///   - accessible: when the values can be read. A collection is unlocked as a whole, so all values
  ///     are as open as it is; with `...ThisDeviceOnly` the store's key is in a file of this machine
  ///     and not in the keyring, whose copy does not open without it; a copy of the home folder has both.
  ///   - keySource: where the key comes from; nil for what `accessible` asks for.
  ///   - algorithm: what seals, if the store is new; one that exists keeps its own.
  ///   - authenticationTag: further data that must match when a value is opened; it is not stored.
  ///   - access: how long calls wait, and whether they may ask the user.
  ///   - errorClosure: takes the errors of calls that can't throw.
  public convenience init(
    service: String, accessGroup: String? = nil, synchronizable: Bool = false,
    accessible: Accessibility = .whenUnlocked, keySource: KeySource? = nil,
    algorithm: AEADAlgorithm = .aes256GCM, authenticationTag: Data? = nil,
    access: KeyringAccess = .standard, errorClosure: StorageErrorClosure? = nil
  ) {
    self.init(
      accessGroup: accessGroup, synchronizable: synchronizable, accessible: accessible,
      keySource: keySource, algorithm: algorithm, authenticationTag: authenticationTag,
      access: access, errorClosure: errorClosure
    ) { service }
  }

  /// The standard store, in a collection of the caller's choice, or under an authentication tag.
  ///
  /// - Parameters:
  ///   - accessGroup: the collection, as above.
  ///   - synchronizable: as above.
  ///   - accessible: as above.
  ///   - authenticationTag: further data that must match when a value is opened; it is not stored.
  ///   - errorClosure: takes the errors of calls that can't throw.
  public convenience init(
    accessGroup: String? = nil, synchronizable: Bool = false,
    accessible: Accessibility = .whenUnlocked, authenticationTag: Data? = nil,
    errorClosure: StorageErrorClosure? = nil
  ) {
    self.init(
      accessGroup: accessGroup, synchronizable: synchronizable, accessible: accessible,
      keySource: nil, isBootstrapped: true, authenticationTag: authenticationTag,
      errorClosure: errorClosure
    ) { SecureStorage.configuration(for: "the standard keychain storage").applicationID }
  }

  /// The same on the bus of a client, of a service that is asked for when it is needed.
  ///
  /// `isBootstrapped` says that the program's own key source goes before the standard one.
  init(
    accessGroup: String?, synchronizable: Bool, accessible: Accessibility,
    keySource: KeySource?, isBootstrapped: Bool = false, algorithm: AEADAlgorithm = .aes256GCM,
    authenticationTag: Data? = nil, access: KeyringAccess = .standard,
    client: KeyringClient? = nil, errorClosure: StorageErrorClosure? = nil,
    service: @escaping @Sendable () -> String
  ) {
    let client = client ?? access.client
    self.accessGroup = accessGroup
    self.accessible = accessible
    self.synchronizable = synchronizable
    let refusal = Self.refusal(synchronizable, accessible, hasSource: keySource != nil)
    let source = KeySource(deferred: {
      if let keySource { return keySource }
      if isBootstrapped, !SecureStorage.configuration.keySource.isAutomatic {
        return SecureStorage.configuration.keySource
      }
      if accessible.isThisDeviceOnly { return DeviceKey.source(application: service()) }
      return .keyring(
        KeyringKey(name: service(), collection: accessGroup, access: access, client: client))
    })
    let use: @Sendable () -> SecureStorage.Access = {
      isBootstrapped ? SecureStorage.configuration.access : .readWrite
    }
    let delegate = KeyringDelegate(
      accessGroup: accessGroup, access: access, client: client, use: use
    ) { () throws(StorageError) in
      if let refusal { throw refusal }
      return service()
    }
    // What can't be had is refused in a test, too.
    let test = isBootstrapped && refusal == nil ? TestStores.inUse : nil
    super.init(
      test?.delegate(of: "keychain/\(accessGroup ?? "")") ?? delegate,
      keySource: test?.keySource ?? source, algorithm: algorithm,
      authenticationTag: authenticationTag,
      errorClosure: errorClosure)
  }

  /// What the Secret Service can't do, and would be accepted and ignored otherwise.
  private static func refusal(
    _ synchronizable: Bool, _ accessible: Accessibility, hasSource: Bool
  ) -> StorageError? {
    if synchronizable {
      return StorageError(
        .unsupported, "the Secret Service synchronizes nothing between devices")
    }
    if accessible == .whenPasscodeSetThisDeviceOnly, !hasSource {
      return StorageError(
        .unsupported,
        "there is no device's passcode here; give the storage a key source of a passphrase")
    }
    return nil
  }
}
