public import CryptoCore
public import StorageCore

/// Where a store is in PostgreSQL, and how this program gets there.
public struct PostgresConfiguration: Sendable {
  /// How libpq connects: `key=value` pairs or a `postgresql://` URL.
  ///
  /// What it leaves out comes from libpq's own places: the `PG...` environment, the service file and the
  /// password file. Certificates, SCRAM and the like are libpq's, too. Of several hosts the one is
  /// used that can be written to.
  public var connection: String

  /// The name of the store, in whose name its rows are.
  ///
  /// The store's keys are bound to it, so rows that are copied to another name don't open.
  public var store: String

  /// The schema of the tables, see ``PostgresSchema``.
  public var schema: String

  /// Gives the password where libpq's own places have none; called for each new connection.
  public var password: (@Sendable () throws(StorageError) -> SecureBytes)?

  /// What the program may do; by default it changes values and never makes a store.
  ///
  /// `.readWrite` means the same here: only `create()` makes a store.
  public var access: StoreAccess

  /// How long a call may take, with all that it asks and all times that a body runs again.
  public var deadline: Duration

  /// Where this machine keeps a copy of the store, such as a `VaultStorage`; nil for nowhere.
  ///
  /// With a copy a program starts while PostgreSQL is away, and `state` says how old its values are. It
  /// also sees at its start that the database has gone back to an older state: use is then the error
  /// `damaged`. Changes get into the copy within a second; `refresh()` waits for that. The storage
  /// holds nothing else, and has a key of its own.
  public var copy: DelegatedStorage?

  /// Whether `open` says when commits that were acknowledged may be lost; an operator's tool asks the
  /// servers instead.
  package var saysCautions = true

  /// A store in PostgreSQL.
  ///
  /// - Parameters:
  ///   - connection: how libpq connects.
  ///   - store: the name of the store, such as "shop".
  ///   - schema: the schema of the tables.
  ///   - password: gives the password.
  ///   - access: what the program may do.
  ///   - deadline: how long a call may take.
  ///   - copy: where this machine keeps a copy of the store.
  public init(
    _ connection: String, store: String, schema: String = "securestore",
    password: (@Sendable () throws(StorageError) -> SecureBytes)? = nil,
    access: StoreAccess = .mustExist, deadline: Duration = .seconds(10),
    copy: DelegatedStorage? = nil
  ) {
    (self.connection, self.store, self.schema) = (connection, store, schema)
    (self.password, self.access, self.deadline, self.copy) = (password, access, deadline, copy)
  }
}
