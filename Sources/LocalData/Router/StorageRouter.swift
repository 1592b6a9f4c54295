public import CryptoCore
public import StorageCore

public import struct FoundationEssentials.URL

/// Reads and writes the data that an application has declared as keys.
///
///     try await StorageRouter.shared.set("dark", for: StorageKeys.Theme())
///     let theme = try await StorageRouter.shared.get(StorageKeys.Theme())
///     try await StorageRouter.shared.remove(StorageKeys.Theme())
///
/// The actor protects only its configuration. Reads and writes do not wait for each other, so a key
/// whose provider or keyring hangs delays no other key. The first use of a key finds its place and
/// reads the ledger, `localdata.vault`; each later use costs a table lookup and the access to the
/// place.
public actor StorageRouter {
  nonisolated let core: RouterCore

  /// The router of the program; in a test with its own stores, the router of the test.
  ///
  /// It uses the application id and key source of
  /// `SecureStorage.bootstrap(applicationID:keySource:)`; call that function first.
  public static var shared: StorageRouter {
    guard let test = TestStores.inUse else { return program }
    return test.kept {
      StorageRouter(
        Places(
          Locations(
            application: { () throws(StorageError) in "test" },
            root: test.folder.map { $0 + "/localdata" }), test.keySource, test: test.places))
    }
  }

  private static let program = StorageRouter(
    Places(
      Locations(
        application: { () throws(StorageError) in
          try SecureStorage.configuration(for: "the shared storage router")
            .applicationID
        }, root: nil), .bootstrapped, access: { SecureStorage.configuration.access }))

  /// Creates a separate router.
  ///
  /// Creating it accesses nothing; the first use does. Releasing it closes its stores, and ends its
  /// connection to a shared store; properties of its keys keep it.
  ///
  /// - Parameters:
  ///   - applicationID: the name of its folders and suites, 1 to 128 bytes that can name a file.
  ///   - keySource: where the key of all its stores comes from.
  ///   - folder: an absolute file URL of a folder that holds all places except custom folders; nil
  ///     for the standard folders. The desktop's keyring stays outside of it.
  ///   - configuration: the values for keys that omit a service or a group.
  public init(
    applicationID: String, keySource: KeySource, folder: URL? = nil,
    configuration: StorageConfiguration = StorageConfiguration()
  ) {
    let root = folder?.standardizedFileURL.path(percentEncoded: false)
    let path = root.map { $0.count > 1 && $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
    self.init(
      Places(
        Locations(
          application: { () throws(StorageError) in
            try StandardFolders.validate(applicationID)
            return applicationID
          }, root: path), keySource), configuration)
  }

  /// Creates a router that uses the keyring of a given bus, for tests.
  package init(
    applicationID: String, keySource: KeySource, root: String, keyringBus: String,
    configuration: StorageConfiguration = StorageConfiguration()
  ) {
    self.init(
      Places(
        Locations(application: { () throws(StorageError) in applicationID }, root: root),
        keySource, keyringBus: keyringBus), configuration)
  }

  /// Lets new values be weaker than the minimum, for tests, which need fast derivations.
  package nonisolated func waiveFloor() {
    core.state.withLock { state in
      state.waivesFloor = true
      state.startAnew()
    }
  }

  private init(
    _ places: Places, _ configuration: StorageConfiguration = StorageConfiguration()
  ) {
    self.init(RouterCore(places, configuration))
  }

  init(_ core: RouterCore) { self.core = core }
}

extension StorageRouter: RedactedDescription {}
