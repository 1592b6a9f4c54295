internal import CryptoCore
internal import StorageCore

/// Reads what can still be read of a vault whose file is broken.
enum VaultSalvage {
  /// Copies every row that can be read into an empty file.
  ///
  /// - Throws: `damaged` when the header, which leads to the keys, can't be read.
  static func copy(
    _ source: Connection, to destination: Connection
  ) throws(StorageError) {
    try VaultSchema.create(destination)
    guard let header = try VaultRows.header(source) else {
      throw StorageError(
        .damaged, "the vault's header can't be read; restore it from a backup", path: source.path)
    }
    try destination.beginWriting()
    defer { destination.rollBack() }
    try VaultRows.setMeta(VaultSchema.Row.header, header, sequence: 0, destination)
    var last: Int64 = 0
    // By the table from both ends, and then by the index, which is on other pages.
    for order in ["ASC", "DESC"] {
      try skippingDamage { () throws(StorageError) in
        try source.statement(
          once:
            "SELECT name, value FROM record WHERE value IS NOT NULL ORDER BY sequence "
            + order
        ).run { (row) throws(StorageError) in
          try insert(row, destination, &last)
          return true
        }
      }
    }
    var names: [NameHash] = []
    try skippingDamage { () throws(StorageError) in
      try source.statement(
        "SELECT name FROM record INDEXED BY sqlite_autoindex_record_1 ORDER BY name"
      ).run { (row) throws(StorageError) in
        names.append(try VaultRows.name(row, 0, source))
        return true
      }
    }
    for name in names {
      try skippingDamage { () throws(StorageError) in
        try source.statement("SELECT name, value FROM record WHERE name = ?1")
          .run(.blob(name.bytes)) { (row) throws(StorageError) in
            try insert(row, destination, &last)
            return false
          }
      }
    }
    // What is gone is not known, so every process has to read everything anew.
    last += 1
    var manifest: [UInt8] = []
    try skippingDamage { () throws(StorageError) in manifest = try VaultRows.manifest(source) }
    try VaultRows.setMeta(VaultSchema.Row.manifest, manifest, sequence: last, destination)
    try VaultRows.setMeta(VaultSchema.Row.horizon, [], sequence: last, destination)
    try destination.commit()
  }

  private static func insert(
    _ row: Statement.Row, _ destination: Connection, _ last: inout Int64
  ) throws(StorageError) {
    guard let value = try row.blob(1) else { return }
    let name = try VaultRows.name(row, 0, destination)
    // Numbered anew, since the old numbers may be what is broken.
    last += 1
    try destination.statement(
      "INSERT OR IGNORE INTO record (sequence, name, value) VALUES (?1, ?2, ?3)"
    ).run(.integer(last), .blob(name.bytes), .blob(value))
  }

  private static func skippingDamage(
    _ body: () throws(StorageError) -> Void
  ) throws(StorageError) {
    do throws(StorageError) {
      try body()
    } catch {
      guard error.code == .damaged else { throw error }
    }
  }
}
