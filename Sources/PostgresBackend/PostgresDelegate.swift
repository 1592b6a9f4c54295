internal import CryptoCore
public import RemoteBackend
internal import StorageCore

extension RemoteDelegate {
  /// The delegate of a store in PostgreSQL.
  ///
  /// Nothing is asked before the first use.
  ///
  /// - Parameters:
  ///   - configuration: where the store is.
  ///   - reading: how new the values are that readers get.
  public convenience init(_ configuration: PostgresConfiguration, reading: RemoteReading = .cached)
  {
    self.init(reading: reading, Self.postgresAdvice) { () throws(StorageError) in
      try PostgresPlaces.place(of: configuration)
    }
  }

  /// The delegate of the store that `configuration` returns at the first use.
  static func postgres(
    reading: RemoteReading,
    _ configuration: @escaping @Sendable () throws(StorageError) -> PostgresConfiguration
  ) -> RemoteDelegate {
    RemoteDelegate(reading: reading, postgresAdvice) { () throws(StorageError) in
      try PostgresPlaces.place(of: configuration())
    }
  }

  private static let postgresAdvice = Advice(
    missing:
      "there is no store of this name in the database, and none was made; check the connection "
      + "and the name. A new store is made once, on one machine, by PostgresStorage.create() or "
      + "securestore init --postgres",
    removal: { store in
      let name = PostgresText.literal(store)
      return "the tables' owner run: UPDATE securestore.rows SET value = NULL, "
        + "version = pg_current_xact_id() WHERE store = \(name)"
    })
}

/// Names and texts, as SQL has them.
enum PostgresText {
  static func identifier(_ name: String) -> String {
    "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
      + "\""
  }

  static func literal(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
  }
}

/// The places of this process, one for each store and way to it.
private enum PostgresPlaces {
  private static let all = WeakTable<[ExactString], RemotePlace>()

  static func place(of configuration: PostgresConfiguration) throws(StorageError) -> RemotePlace {
    let (store, schema) = (configuration.store, configuration.schema)
    guard (1...512).contains(store.utf8.count), !store.utf8.contains(0) else {
      throw StorageError(.invalid, "a store in PostgreSQL has a name of 1 to 512 bytes")
    }
    // The names of its two roles are longer by seven bytes.
    guard (1...56).contains(schema.utf8.count), !schema.utf8.contains(0) else {
      throw StorageError(.invalid, "a schema of PostgreSQL has a name of 1 to 56 bytes here")
    }
    // What leads to the store in another way has connections of its own.
    var id = [configuration.connection, store, schema]
    id += ["\(configuration.access)", "\(configuration.deadline)"]
    if configuration.password != nil { id.append("password") }
    if let copy = configuration.copy { id.append("\(ObjectIdentifier(copy))") }
    return try all.object(id.map { ExactString(text: $0) }) { () throws(StorageError) in
      var options = RemotePlace.Options()
      options.deadline = configuration.deadline
      options.access = configuration.access == .readOnly ? .readOnly : .mustExist
      options.place = store
      options.copy = configuration.copy
      return RemotePlace(try PostgresEngine(configuration), options)
    }
  }
}
