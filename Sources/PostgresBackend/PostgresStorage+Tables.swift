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
    let connection = try engine.connect(by: deadline)
    do throws(PostgresFailure) {
      let name = PostgresText.literal(PostgresText.identifier(engine.schema) + ".schema_version")
      var isThere = false
      try connection.ask("SELECT to_regclass(\(name)) IS NOT NULL", by: deadline) { fields in
        isThere = fields[0] == [1]
      }
      if isThere { return }
      try connection.ask(PostgresSchema.statement(schema: engine.schema), by: deadline)
    } catch {
      throw error.error(of: .write, at: engine.title)
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
