public import CryptoCore
public import StorageCore

/// Plain secrets in the desktop's keyring, shared with every other program of the user.
///
///     let keyring = Keyring(service: "com.example.mail")
///     try keyring.container(for: "alice@example.com").store(password)
///
/// A secret is an item of the Secret Service with the attributes `service` and `account`, which
/// `secret-tool lookup service com.example.mail account alice@example.com` prints; items that
/// `secret-tool` and Python's keyring write are read as well (docs/keyring.md). Every program that
/// may use the keyring sees names and secrets: this program's own secrets belong into
/// `KeychainStorage`. An accessibility of this device only, or an authentication, seals the secret;
/// then other programs still see the names, but can't read the secret.
///
/// Any thread may use it. Every call makes three to six calls over the bus, and takes a few
/// milliseconds; `keyring.async { try $0.keys() }` blocks no thread of Swift concurrency.
public final class Keyring: Sendable, BlockingCalls {
  /// When a secret can be read.
  public typealias Accessibility = KeyringBackend.Accessibility

  private static let standard = Lock(Keyring())

  /// The keyring for code that has no other; set it, if at all, when the program starts.
  ///
  /// Unless it is set, its service is the application's id, in the default collection.
  public static var `default`: Keyring {
    get { standard.withLock { $0 } }
    set { standard.withLock { $0 = newValue } }
  }

  private let givenService: String?
  /// The collection, by its alias or its label; nil for the default one.
  public let group: String?
  /// When secrets can be read.
  public let accessibility: Accessibility
  /// What secrets need besides an unlocked collection.
  public let authentication: Authentication
  /// How calls wait, and whether they may ask the user.
  public let access: KeyringAccess
  /// Whether secrets are synchronized between devices: never, since nothing does that here.
  public var isSynchronizable: Bool { false }

  let client: KeyringClient
  let protection: Protection

  /// The `service` of all items.
  ///
  /// If none was given, it is the application's id of
  /// `SecureStorage.bootstrap(applicationID:keySource:)`, looked up at the first use.
  public var service: String { givenService ?? SecureStorage.configuration.applicationID }

  // MARK: - Making

  /// A keyring whose secrets are as open as its collection.
  ///
  /// Nothing is looked at before the first use.
  ///
  /// - Parameters:
  ///   - service: the attribute `service` of all items; nil for the application's id.
  ///   - group: the collection, by its alias or its label; nil for the default one.
  ///   - access: how calls wait, and whether they may ask the user.
  public convenience init(
    service: String? = nil, group: String? = nil, access: KeyringAccess = .standard
  ) {
    self.init(
      service: service, group: group, accessibility: .whenUnlocked, authentication: [],
      access: access, client: access.client, passcode: nil)
  }

  /// A keyring with settings that may not be available.
  ///
  /// - Parameters:
  ///   - service: as above.
  ///   - group: as above.
  ///   - accessibility: when secrets can be read. A collection is unlocked as a whole, so they are
  ///     as open as the collection; with `...ThisDeviceOnly` they are sealed with a key of this
  ///     machine.
  ///   - isSynchronizable: whether secrets are synchronized between devices.
  ///   - deviceKey: gives the key of this machine, of 32 bytes; of a ladder only the first source is
  ///     used. Nil means the file `device.key` in the application's data folder together with the
  ///     machine's id: see ``Accessibility`` for what that protects. With another key, older secrets
  ///     don't open.
  ///   - access: as above.
  /// - Throws: `unsupported` when `isSynchronizable` is true, and when `accessibility` needs a
  ///   passcode: give it to the form with an authentication.
  @_disfavoredOverload  // prefers the initializer that needs no `try`
  public convenience init(
    service: String? = nil, group: String? = nil, accessibility: Accessibility = .whenUnlocked,
    isSynchronizable: Bool = false, deviceKey: KeySource? = nil,
    access: KeyringAccess = .standard
  ) throws(StorageError) {
    try Self.refuse(isSynchronizable: isSynchronizable, accessibility, [], hasPasscode: false)
    self.init(
      service: service, group: group, accessibility: accessibility, authentication: [],
      access: access, client: access.client, deviceKey: Self.giver(of: deviceKey), passcode: nil)
  }

  /// A keyring whose secrets are sealed with a passcode.
  ///
  /// - Parameters:
  ///   - service: as above.
  ///   - group: as above.
  ///   - accessibility: as above; with `...ThisDeviceOnly` both a passcode and this machine are
  ///     needed.
  ///   - authentication: what secrets need besides an unlocked collection. An empty set means
  ///     nothing.
  ///   - isSynchronizable: as above.
  ///   - deviceKey: as above.
  ///   - access: as above; the time that the application takes to ask for the passcode does not
  ///     count.
  ///   - passcode: gives the passcode; nil, when there is none, is the error `keyUnavailable`. It
  ///     is called at each fetch and store of a secret, on the thread that makes the call, and may
  ///     wait for the user. A thrown error that is no `StorageError` becomes `keyUnavailable`. Each
  ///     call then takes about 0.3 s and 128 MiB: scrypt. A new secret needs a passcode of at least
  ///     eight bytes: a shorter one is the error `invalid`, and still opens an older secret.
  /// - Throws: `unsupported` when `isSynchronizable` is true, for biometry and watch, and when a
  ///   passcode is needed and no closure gives one.
  public convenience init(
    service: String? = nil, group: String? = nil, accessibility: Accessibility = .whenUnlocked,
    authentication: Authentication, isSynchronizable: Bool = false,
    deviceKey: KeySource? = nil, access: KeyringAccess = .standard,
    passcode: (@Sendable () throws -> SecureBytes?)? = nil
  ) throws(StorageError) {
    try Self.refuse(
      isSynchronizable: isSynchronizable, accessibility, authentication,
      hasPasscode: passcode != nil)
    self.init(
      service: service, group: group, accessibility: accessibility, authentication: authentication,
      access: access, client: access.client, deviceKey: Self.giver(of: deviceKey),
      passcode: passcode)
  }

  /// The same on the bus of a client, with the key of a machine.
  init(
    service: String?, group: String?, accessibility: Accessibility,
    authentication: Authentication, access: KeyringAccess, client: KeyringClient,
    deviceKey: (@Sendable () -> KeySource)? = nil, derivation: PassphraseDerivation = .standard,
    passcode: (@Sendable () throws -> SecureBytes?)?
  ) {
    givenService = service
    self.group = group
    self.accessibility = accessibility
    self.authentication = authentication
    self.access = access
    self.client = client
    var parts: Protection.Parts = []
    if accessibility.isThisDeviceOnly { parts.insert(.device) }
    if accessibility == .whenPasscodeSetThisDeviceOnly || !authentication.isEmpty {
      parts.insert(.passcode)
    }
    protection = Protection(
      parts: parts,
      deviceKey: deviceKey ?? {
        DeviceKey.source(application: SecureStorage.configuration.applicationID)
      },
      passcode: passcode ?? { throw Self.noPasscode }, derivation: derivation)
  }

  private static func giver(of source: KeySource?) -> (@Sendable () -> KeySource)? {
    guard let source else { return nil }
    return { source }
  }

  /// Refuses settings that are not available, and that would otherwise be accepted and ignored.
  static func refuse(
    isSynchronizable: Bool, _ accessibility: Accessibility, _ authentication: Authentication,
    hasPasscode: Bool
  ) throws(StorageError) {
    if isSynchronizable {
      throw StorageError(
        .unsupported,
        "the Secret Service can't synchronize between devices; set isSynchronizable to false")
    }
    guard authentication.isSupported else {
      throw StorageError(
        .unsupported,
        "the Secret Service does not support biometry or a watch; use devicePasscode, and let the "
          + "application ask for the passcode")
    }
    let needsPasscode =
      accessibility == .whenPasscodeSetThisDeviceOnly || !authentication.isEmpty
    guard hasPasscode || !needsPasscode else { throw noPasscode }
  }

  private static let noPasscode = StorageError(
    .unsupported,
    "this machine has no device passcode; give the keyring a closure that asks for a passcode")

  // MARK: - Containers

  /// The place of one secret.
  ///
  /// This asks no service.
  ///
  /// - Parameter account: the attribute `account` of the item, any text without a zero character.
  /// - Returns: the container.
  public func container(for account: String) -> Container {
    Container(keyring: self, account: account)
  }

  func perform<Result>(
    _ body: (BusConnection, Call) throws(BusFailure) -> Result
  ) throws(StorageError) -> Result {
    try client.perform(access, body)
  }
}

extension Keyring: RedactedDescription {
  /// The service and the group, and no secret.
  public var description: String {
    "Keyring(\(givenService.map { "\"\($0)\"" } ?? "the application's")"
      + (group.map { ", group: \"\($0)\"" } ?? "") + ", \(accessibility))"
  }
}
