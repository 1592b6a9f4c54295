public import RemoteBackend
public import StorageCore

public import struct FoundationEssentials.Data

/// Values that many machines share, sealed, in PostgreSQL.
///
///     let fleet = PostgresStorage(
///       "host=db1,db2 dbname=shop", store: "shop", keySource: .systemdCredential("fleet"))
///     @Live(fleet, "log-level") var level = "info"
///
/// PostgreSQL sees hashed names and sealed values. Reads come from memory, which notifications and a poll
/// keep current, and go on while the database is away. A write has been committed, and is on the
/// synchronous standbys, before it returns. If the answer to a write is lost, the storage finds out
/// what became of it; the error `outcomeUnknown` means that it could not within the deadline.
///
/// The tables are made by ``PostgresSchema``, and the store by `create()` once, on one machine.
public final class PostgresStorage: RemoteStorage, StandardStorage, @unchecked Sendable {
  // Adds nothing to RemoteStorage.

  // MARK: The program's store

  private static let ofProgram = ProgramStore<PostgresConfiguration>(of: "PostgresStorage")

  /// Sets the store that `@Postgres` and its family use, once, at the start of the program.
  ///
  /// A second call ends the process: one half of the program would else use another store than the
  /// other half.
  ///
  /// - Parameters:
  ///   - configuration: where the store is.
  ///   - keySource: where its key comes from.
  public static func bootstrap(_ configuration: PostgresConfiguration, keySource: KeySource) {
    ofProgram.choose(configuration, keySource)
  }

  /// The storage that `@Postgres` and its family use; in a test with its own stores, the test's.
  ///
  /// Every use is the error `unavailable` until ``bootstrap(_:keySource:)`` was called.
  public static var standard: PostgresStorage {
    guard let test = TestStores.inUse else { return program }
    return test.kept {
      PostgresStorage(delegate, records: test.delegate(of: "postgres"), keySource: test.keySource)
    }
  }

  private static let program = PostgresStorage(delegate, keySource: ofProgram.keySource)

  private static var delegate: RemoteDelegate {
    RemoteDelegate(reading: .cached, PostgresConfiguration.advice) { () throws(StorageError) in
      try ofProgram.configuration().way()
    }
  }

  // MARK: Making one

  /// A store in PostgreSQL.
  ///
  /// - Parameters:
  ///   - configuration: where the store is, and how this program gets there.
  ///   - keySource: where the key comes from. Each machine needs one that opens the store: the same
  ///     on all, or a slot for each, see ``/StorageCore/KeyAdministration``.
  ///   - reading: how new the values are that readers get.
  ///   - authenticationTag: further data that must match when a value is opened; it is not stored.
  ///   - errorClosure: gets the errors of calls that can't throw.
  public convenience init(
    _ configuration: PostgresConfiguration, keySource: KeySource,
    reading: RemoteReading = .cached, authenticationTag: Data? = nil,
    errorClosure: StorageErrorClosure? = nil
  ) {
    self.init(
      RemoteDelegate(configuration, reading: reading), keySource: keySource,
      authenticationTag: authenticationTag, errorClosure: errorClosure)
  }

  /// A store in PostgreSQL, with the usual settings.
  ///
  /// - Parameters:
  ///   - connection: how libpq connects, such as "host=db1,db2 dbname=shop".
  ///   - store: the name of the store, such as "shop".
  ///   - keySource: where the key comes from.
  public convenience init(_ connection: String, store: String, keySource: KeySource) {
    self.init(PostgresConfiguration(connection, store: store), keySource: keySource)
  }
}
