public import RemoteBackend
public import StorageCore

public import struct FoundationEssentials.Data

/// Values that many machines share, sealed, in etcd.
///
///     let fleet = EtcdStorage(
///       endpoints: ["https://10.0.0.5:2379", "https://10.0.0.6:2379", "https://10.0.0.7:2379"],
///       prefix: "/apps/shop", keySource: .systemdCredential("fleet"))
///     @Live(fleet, "log-level") var level = "info"
///
/// etcd sees hashed names and sealed values. Reads come from memory, which a watch keeps current, and
/// go on while etcd is away. A write has been made by a majority of etcd's members before it returns.
/// If the answer to a write is lost, the storage finds out what became of it; the error
/// `outcomeUnknown` means that it could not within the deadline.
///
/// The store is made by `create()` once, on one machine, and by nothing else.
public final class EtcdStorage: RemoteStorage, StandardStorage, @unchecked Sendable {
  // Adds nothing to RemoteStorage.

  // MARK: The program's store

  private static let ofProgram = ProgramStore<EtcdConfiguration>(of: "EtcdStorage")

  /// Sets the store that `@Etcd` and its family use, once, at the start of the program.
  ///
  /// A second call ends the process: one half of the program would else use another store than the
  /// other half.
  ///
  /// - Parameters:
  ///   - configuration: where the store is.
  ///   - keySource: where its key comes from.
  public static func bootstrap(_ configuration: EtcdConfiguration, keySource: KeySource) {
    ofProgram.choose(configuration, keySource)
  }

  /// The storage that `@Etcd` and its family use; in a test with its own stores, the test's.
  ///
  /// Every use is the error `unavailable` until ``bootstrap(_:keySource:)`` was called.
  public static var standard: EtcdStorage {
    guard let test = TestStores.inUse else { return program }
    return test.kept {
      EtcdStorage(delegate, records: test.delegate(of: "etcd"), keySource: test.keySource)
    }
  }

  private static let program = EtcdStorage(delegate, keySource: ofProgram.keySource)

  private static var delegate: RemoteDelegate {
    RemoteDelegate(reading: .cached, EtcdConfiguration.advice) { () throws(StorageError) in
      try ofProgram.configuration().way()
    }
  }

  // MARK: Making one

  /// A store in etcd.
  ///
  /// - Parameters:
  ///   - configuration: where the store is, and how this program gets there.
  ///   - keySource: where the key comes from. Each machine needs one that opens the store: the same
  ///     on all, or a slot for each, see ``/StorageCore/KeyAdministration``.
  ///   - reading: how new the values are that readers get.
  ///   - authenticationTag: further data that must match when a value is opened; it is not stored.
  ///   - errorClosure: gets the errors of calls that can't throw.
  public convenience init(
    _ configuration: EtcdConfiguration, keySource: KeySource, reading: RemoteReading = .cached,
    authenticationTag: Data? = nil, errorClosure: StorageErrorClosure? = nil
  ) {
    self.init(
      RemoteDelegate(configuration, reading: reading), keySource: keySource,
      authenticationTag: authenticationTag, errorClosure: errorClosure)
  }

  /// A store in etcd, with the usual settings.
  ///
  /// - Parameters:
  ///   - endpoints: the addresses of the members, such as "https://10.0.0.5:2379".
  ///   - prefix: the name of the store, such as "/apps/shop".
  ///   - keySource: where the key comes from.
  public convenience init(endpoints: [String], prefix: String, keySource: KeySource) {
    self.init(
      EtcdConfiguration(endpoints: endpoints, prefix: prefix), keySource: keySource)
  }
}
