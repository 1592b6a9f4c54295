public import StorageCore

/// A property in PostgreSQL; `nil` when there is no value.
///
/// See `Store`.
///
///     @Postgres("username") var username: String?
public typealias Postgres<Value> = Store<Value, PostgresStorage>

/// A `Codable` property in PostgreSQL; `nil` when there is no value.
///
/// See `CodableStore`.
///
///     @CodablePostgres("user") var user: User?
public typealias CodablePostgres<Value: Codable> = CodableStore<Value, PostgresStorage>

/// A property in PostgreSQL; its default when there is no value.
///
/// See `UnwrappedStore`.
///
///     @UnwrappedPostgres("launches") var launches = 0
public typealias UnwrappedPostgres<Value> = UnwrappedStore<Value, PostgresStorage>

/// A `Codable` property in PostgreSQL; its default when there is no value.
///
/// See `UnwrappedCodableStore`.
public typealias UnwrappedCodablePostgres<Value: Codable> = UnwrappedCodableStore<
  Value, PostgresStorage
>

/// A property in PostgreSQL, read from memory and observed; see `Live`.
///
///     @LivePostgres("theme") var theme = "dark"
///     @LivePostgres("token") var token: String?
public typealias LivePostgres<Property: Sendable & Equatable> = Live<Property, PostgresStorage>
