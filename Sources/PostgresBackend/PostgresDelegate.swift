package import RemoteBackend
internal import StorageCore

extension RemoteDelegate {
  /// The delegate of a store in PostgreSQL.
  ///
  /// Nothing is asked before the first use.
  ///
  /// - Parameters:
  ///   - configuration: where the store is.
  ///   - reading: how new the values are that readers get.
  package convenience init(
    _ configuration: PostgresConfiguration, reading: RemoteReading = .cached
  ) {
    self.init(reading: reading, PostgresConfiguration.advice) { () throws(StorageError) in
      try configuration.way()
    }
  }
}

extension PostgresConfiguration {
  /// What users of PostgreSQL are told.
  static let advice = RemoteDelegate.Advice(
    missing:
      "there is no store of this name in the database, and none was made; check the connection "
      + "and the name. A new store is made once, on one machine, by PostgresStorage.create() or "
      + "securestore init --postgres",
    removal: { store, engine in
      let schema = (engine as? PostgresEngine)?.schema ?? "securestore"
      return "the tables' owner run: UPDATE \(PostgresText.identifier(schema)).rows "
        + "SET value = NULL, version = pg_current_xact_id() WHERE store = \(PostgresText.literal(store))"
    })

  /// The way to the store.
  ///
  /// - Throws: `invalid` for a name that is none.
  func way() throws(StorageError) -> RemoteWay {
    guard (1...512).contains(store.utf8.count), !store.utf8.contains(0) else {
      throw StorageError(.invalid, "a store in PostgreSQL has a name of 1 to 512 bytes")
    }
    // The names of its two roles are longer by seven bytes.
    guard (1...56).contains(schema.utf8.count), !schema.utf8.contains(0) else {
      throw StorageError(.invalid, "a schema of PostgreSQL has a name of 1 to 56 bytes here")
    }
    let words = [connection, schema, password == nil ? "" : "password"]
    return RemoteWay(words, place: store, access: access, deadline: deadline, copy: copy) {
      [self] () throws(StorageError) in try PostgresEngine(self)
    }
  }
}

/// Names and texts, as SQL has them.
enum PostgresText {
  static func identifier(_ name: String) -> String { quoted(name, "\"") }
  static func literal(_ text: String) -> String { quoted(text, "'") }

  private static func quoted(_ text: String, _ mark: String) -> String {
    let parts = text.split(separator: mark, omittingEmptySubsequences: false)
    return mark + parts.joined(separator: mark + mark) + mark
  }
}
