public import CryptoCore
public import StorageCore

public import struct FoundationEssentials.Data

/// Values in the desktop's keyring, sealed: GNOME Keyring, KeePassXC or KWallet.
///
/// Each value is an item. A first read is two calls of the Secret Service, a repeated read one; a
/// write is three to five, and the service decides when it is durable. Other programs of the user
/// see that the items exist, but neither their names nor their values. For plain secrets that are
/// shared with other programs use ``Keyring``. A value has at most 1 MiB; longer ones belong into a
/// vault.
public final class KeychainStorage: DelegatedStorage, StandardStorage, @unchecked Sendable {
  // The settings, which this class adds to DelegatedStorage, are behind a lock.
  private let settings: Lock<Settings>

  /// The requested collection; nil for the one that holds the store, or the default one for a new
  /// store.
  ///
  /// Set it before the first use: before a value is read or stored, and before a live property is
  /// made. If you set another value later, every use throws `unsupported` until you set the first
  /// one again. So nothing is stored in another collection than the program asked for.
  public var accessGroup: String? {
    get { settings.withLock { $0.asked.accessGroup } }
    @available(*, deprecated, message: "pass accessGroup to the initializer")
    set { settings.withLock { $0.asked.accessGroup = newValue } }
  }

  /// When the values can be read.
  ///
  /// Set it before the first use, as ``accessGroup``: it chooses the key of a new store.
  public var accessible: Accessibility {
    get { settings.withLock { $0.asked.accessible } }
    @available(*, deprecated, message: "pass accessible to the initializer")
    set { settings.withLock { $0.asked.accessible = newValue } }
  }

  /// Whether the values should be synchronized between devices, which the Secret Service can't do.
  ///
  /// While it is true, every use is the error `unsupported`.
  public var synchronizable: Bool {
    get { settings.withLock { $0.asked.synchronizable } }
    @available(*, deprecated, message: "the Secret Service synchronizes nothing")
    set { settings.withLock { $0.asked.synchronizable = newValue } }
  }

  /// The storage that `@Keychain` and its family use; in a test with stores of its own, the test's
  /// storage, which is in memory and asks no service.
  ///
  /// Its service is the application's id. Its key comes from the key source of
  /// `SecureStorage.bootstrap(applicationID:keySource:)`, or from the keyring if none was given
  /// there.
  public static var standard: KeychainStorage {
    TestStores.inUse?.kept { KeychainStorage() } ?? program
  }

  private static let program = KeychainStorage()

  /// The store of a service in the keyring.
  ///
  /// The keyring is not asked before the first use; `open()` asks it now.
  ///
  /// - Parameters:
  ///   - service: whose store it is, such as the application's id.
  ///   - accessGroup: the collection, by its alias or its label; nil for the one that the store is
  ///     in already, or the default one for a new store.
  ///   - keySource: where the key comes from; nil for a key in the keyring.
  ///   - algorithm: the cipher of a new store; an existing store keeps its own.
  ///   - authenticationTag: further data that must match when a value is opened; it is not stored.
  ///   - access: how long calls wait, and whether they may ask the user.
  ///   - errorClosure: takes the errors of calls that can't throw.
  public convenience init(
    service: String, accessGroup: String? = nil, keySource: KeySource? = nil,
    algorithm: AEADAlgorithm = .aes256GCM, authenticationTag: Data? = nil,
    access: KeyringAccess = .standard, errorClosure: StorageErrorClosure? = nil
  ) {
    self.init(
      accessGroup: accessGroup, synchronizable: false, accessible: .whenUnlocked,
      keySource: keySource, algorithm: algorithm, authenticationTag: authenticationTag,
      access: access, errorClosure: errorClosure
    ) { service }
  }

  /// The store of a service in the keyring, with settings that may not be available.
  ///
  /// - Parameters:
  ///   - service: as above.
  ///   - accessGroup: as above.
  ///   - synchronizable: whether to synchronize between devices; the Secret Service can't.
  ///   - accessible: when the values can be read. A collection is unlocked as a whole, so all
  ///     values are as open as the collection. With `...ThisDeviceOnly` the store's key is in a
  ///     file of this machine and not in the keyring: a copy of the keyring does not open without
  ///     the file, but a copy of the home folder has both.
  ///   - keySource: where the key comes from; nil for what `accessible` asks for.
  ///   - algorithm: as above.
  ///   - authenticationTag: as above.
  ///   - access: as above.
  ///   - errorClosure: as above.
  /// - Throws: `unsupported` when `synchronizable` is true, and when `accessible` needs a passcode
  ///   but there is no key source: give a passphrase as the key source.
  @_disfavoredOverload  // prefers the initializer that needs no `try`
  public convenience init(
    service: String, accessGroup: String? = nil, synchronizable: Bool = false,
    accessible: Accessibility = .whenUnlocked, keySource: KeySource? = nil,
    algorithm: AEADAlgorithm = .aes256GCM, authenticationTag: Data? = nil,
    access: KeyringAccess = .standard, errorClosure: StorageErrorClosure? = nil
  ) throws(StorageError) {
    try Values(accessGroup, synchronizable, accessible).require(hasSource: keySource != nil)
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
  ///   - authenticationTag: further data that must match when a value is opened; it is not stored.
  ///   - errorClosure: takes the errors of calls that can't throw.
  public convenience init(
    accessGroup: String? = nil, authenticationTag: Data? = nil,
    errorClosure: StorageErrorClosure? = nil
  ) {
    self.init(
      standardIn: accessGroup, synchronizable: false, accessible: .whenUnlocked,
      authenticationTag, errorClosure)
  }

  /// The standard store, with settings that may not be available.
  ///
  /// - Parameters:
  ///   - accessGroup: the collection, as above.
  ///   - synchronizable: as above.
  ///   - accessible: as above.
  ///   - authenticationTag: further data that must match when a value is opened; it is not stored.
  ///   - errorClosure: takes the errors of calls that can't throw.
  /// - Throws: `unsupported` when `synchronizable` is true, and when `accessible` needs a passcode.
  @_disfavoredOverload  // prefers the initializer that needs no `try`
  public convenience init(
    accessGroup: String? = nil, synchronizable: Bool = false,
    accessible: Accessibility = .whenUnlocked, authenticationTag: Data? = nil,
    errorClosure: StorageErrorClosure? = nil
  ) throws(StorageError) {
    try Values(accessGroup, synchronizable, accessible).require(hasSource: false)
    self.init(
      standardIn: accessGroup, synchronizable: synchronizable, accessible: accessible,
      authenticationTag, errorClosure)
  }

  private convenience init(
    standardIn accessGroup: String?, synchronizable: Bool, accessible: Accessibility,
    _ authenticationTag: Data?, _ errorClosure: StorageErrorClosure?
  ) {
    self.init(
      accessGroup: accessGroup, synchronizable: synchronizable, accessible: accessible,
      keySource: nil, isBootstrapped: true, authenticationTag: authenticationTag,
      errorClosure: errorClosure
    ) { SecureStorage.configuration.applicationID }
  }

  /// The same on the bus of a client; the name of the service is asked for when it is needed.
  ///
  /// `isBootstrapped` says that the program's own key source takes precedence over the standard
  /// one.
  init(
    accessGroup: String?, synchronizable: Bool, accessible: Accessibility,
    keySource: KeySource?, isBootstrapped: Bool = false, algorithm: AEADAlgorithm = .aes256GCM,
    authenticationTag: Data? = nil, access: KeyringAccess = .standard,
    client: KeyringClient? = nil, errorClosure: StorageErrorClosure? = nil,
    service: @escaping @Sendable () -> String
  ) {
    let client = client ?? access.client
    let settings = Lock(
      Settings(
        asked: Values(accessGroup, synchronizable, accessible), hasSource: keySource != nil))
    self.settings = settings
    let source = KeySource(deferred: {
      if let keySource { return keySource }
      if isBootstrapped, !SecureStorage.configuration.keySource.isAutomatic {
        return SecureStorage.configuration.keySource
      }
      let values = settings.withLock { $0.fixed ?? $0.asked }
      if values.accessible.isThisDeviceOnly { return DeviceKey.source(application: service()) }
      return .keyring(
        KeyringKey(
          name: service(), collection: values.accessGroup, access: access, client: client))
    })
    // Settings that are not available are refused in a test, too.
    let test = isBootstrapped ? TestStores.inUse : nil
    let places = test?.places
    let use: @Sendable () -> StoreAccess = {
      isBootstrapped && places == nil ? SecureStorage.configuration.access : .readWrite
    }
    let group: @Sendable () throws(StorageError) -> String? = { () throws(StorageError) in
      try settings.withLock { (settings) throws(StorageError) in try settings.fix().accessGroup }
    }
    let delegate: any RecordPlace =
      if let places {
        TestKeychain(places: places, accessGroup: group)
      } else {
        KeyringDelegate(access: access, client: client, use: use, accessGroup: group) {
          () throws(StorageError) in
          if isBootstrapped {
            _ = try SecureStorage.configuration(for: "the standard keychain storage")
          }
          return service()
        }
      }
    super.init(
      delegate, keySource: test?.keySource ?? source, algorithm: algorithm,
      authenticationTag: authenticationTag, errorClosure: errorClosure)
  }
}

extension KeychainStorage {
  /// The requested settings; the first use fixes them.
  fileprivate struct Settings {
    var asked: Values
    /// Whether the application gives the key, so that `accessible` does not choose one.
    let hasSource: Bool
    /// The values that the store was opened with; nil before the first use.
    var fixed: Values?

    /// The values of the store, which are fixed from now on.
    ///
    /// - Throws: `unsupported` when the values are not available, or were changed after the first
    ///   use.
    mutating func fix() throws(StorageError) -> Values {
      try asked.require(hasSource: hasSource)
      let values = fixed ?? asked
      fixed = values
      guard values != asked else { return values }
      var names: [String] = []
      if values.accessGroup != asked.accessGroup { names.append("accessGroup") }
      if values.accessible != asked.accessible { names.append("accessible") }
      throw StorageError(
        .unsupported,
        "\(names.joined(separator: " and ")) changed after the storage was first used; set it before "
          + "the first use, or make another KeychainStorage")
    }
  }

  /// The three settings.
  fileprivate struct Values: Equatable {
    var accessGroup: String?
    var synchronizable: Bool
    var accessible: Accessibility

    init(_ accessGroup: String?, _ synchronizable: Bool, _ accessible: Accessibility) {
      self.accessGroup = accessGroup
      self.synchronizable = synchronizable
      self.accessible = accessible
    }

    /// Refuses values that the Secret Service can't provide, and that would otherwise be accepted
    /// and ignored.
    func require(hasSource: Bool) throws(StorageError) {
      if synchronizable {
        throw StorageError(
          .unsupported,
          "the Secret Service can't synchronize between devices; set synchronizable to false")
      }
      if accessible == .whenPasscodeSetThisDeviceOnly, !hasSource {
        throw StorageError(
          .unsupported,
          "this machine has no device passcode; give the storage a passphrase as its key source")
      }
    }
  }
}

/// The place of a ``KeychainStorage`` in a test with stores of its own.
private struct TestKeychain: ForwardingPlace {
  let places: TestPlaces
  let accessGroup: @Sendable () throws(StorageError) -> String?

  var identity: DelegateIdentity? {
    do throws(StorageError) { return try base.identity } catch { return nil }
  }

  var base: any RecordPlace {
    get throws(StorageError) { places.delegate(of: "keychain/\(try accessGroup() ?? "")") }
  }
}
