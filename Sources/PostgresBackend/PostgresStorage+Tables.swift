internal import CPostgres
internal import RemoteBackend
internal import StorageCore

// For securestore.
extension PostgresStorage {
  /// Makes the tables, where the schema has none yet.
  ///
  /// - Throws: `StorageError`: `denied` for a role that may not make them.
  package func makeTables() throws(StorageError) {
    let place = try delegate.place() as RemotePlace
    guard let engine = place.engine as? PostgresEngine else { return }
    let deadline = Deadline(after: place.deadline)
    let name = PostgresText.literal(PostgresText.identifier(engine.schema) + ".schema_version")
    // As a read, since it can be done again.
    try engine.call(.read, by: deadline) { (connection) throws(PostgresFailure) in
      var isThere = false
      try connection.ask("SELECT to_regclass(\(name)) IS NOT NULL", by: deadline) { fields in
        isThere = fields[0] == [1]
      }
      if isThere { return }
      try connection.ask(PostgresSchema.statement(schema: engine.schema), by: deadline)
    }
  }
}

extension PostgresConfiguration {
  /// Whether the connection's text holds a password itself, instead of in one of libpq's places.
  ///
  /// - Throws: `unsupported` without libpq.
  package var namesPassword: Bool {
    get throws(StorageError) { try PostgresConnection.namesPassword(connection) }
  }
}
