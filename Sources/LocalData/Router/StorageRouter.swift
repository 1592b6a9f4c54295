public import CryptoCore
public import StorageCore

public import struct Foundation.URL

/// Reads and writes the data that an application has declared as keys.
///
///     try await StorageRouter.shared.set("dark", for: StorageKeys.Theme())
///     let theme = try await StorageRouter.shared.get(StorageKeys.Theme())
///     try await StorageRouter.shared.remove(StorageKeys.Theme())
///
/// An actor for its configuration alone: reading and writing takes no turns, so a key whose provider or
/// keyring hangs delays no other. The first use of a key finds its place and looks into the ledger,
/// `localdata.vault`; each later one costs a look into a table, and what the place takes.
public actor StorageRouter {
  nonisolated let core: RouterCore

  /// The router of the program; in a test with stores of its own, the test's.
  ///
  /// Its application id and key source are those of `SecureStorage.bootstrap(applicationID:keySource:)`,
  /// which is to be called before.
  public static var shared: StorageRouter {
    guard let test = TestStores.inUse else { return program }
    return test.kept {
      StorageRouter(
        Places(
          Locations(
            application: { () throws(StorageError) in "test" },
            root: test.folder.map { $0 + "/localdata" }), test.keySource, test: test))
    }
  }

  private static let program = StorageRouter(
    Places(
      Locations(
        application: { () throws(StorageError) in
          try SecureStorage.configuration(for: "the shared storage router").validated()
            .applicationID
        }, root: nil), .bootstrapped))

  /// A router of one's own.
  ///
  /// Nothing is looked at before the first use.
  ///
  /// - Parameters:
  ///   - applicationID: names its folders and suites, 1 to 128 bytes that can name a file.
  ///   - keySource: where the key of all its stores comes from.
  ///   - folder: an absolute file URL of a folder that holds all of its places but custom folders; nil
  ///     for the standard ones. The desktop's keyring is outside of it.
  ///   - configuration: what keys that leave out a service or a group get.
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
            try SecureStorage.validate(applicationID)
            return applicationID
          }, root: path), keySource), configuration)
  }

  /// The same with the keyring of a bus, for tests.
  package init(
    applicationID: String, keySource: KeySource, root: String, keyringBus: String,
    configuration: StorageConfiguration = StorageConfiguration()
  ) {
    self.init(
      Places(
        Locations(application: { () throws(StorageError) in applicationID }, root: root),
        keySource, keyringBus: keyringBus), configuration)
  }

  private init(
    _ places: Places, _ configuration: StorageConfiguration = StorageConfiguration()
  ) {
    core = RouterCore(places, configuration)
  }
}

extension StorageRouter: RedactedDescription {}
