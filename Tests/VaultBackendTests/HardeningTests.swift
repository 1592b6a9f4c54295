import CSQLite
import Foundation
import Testing

@testable import VaultBackend

/// What a connection refuses, whoever wrote the file: each item of `Connection.harden`.
@Suite struct HardeningTests {
  private let vault = TemporaryVault()

  private func connection(_ mode: Connection.Mode = .readWrite) throws -> Connection {
    try vault.storage().save("value", forKey: "key")
    return try Connection(vault.path, mode, until: .now)
  }

  private func value(_ sql: String, _ connection: Connection) throws -> String? {
    var text: String?
    try Statement.once(sql, connection) { text = $0.text(0) }
    return text
  }

  @Test(arguments: [
    ("trusted_schema", "0"), ("cell_size_check", "1"), ("mmap_size", "0"), ("writable_schema", "0"),
  ])
  func everyConnectionIsSetUp(_ pragma: String, _ expected: String) throws {
    for mode in [Connection.Mode.readWrite, .readOnly, .immutable] {
      #expect(try value("PRAGMA \(pragma)", connection(mode)) == expected, "\(mode)")
    }
  }

  @Test(arguments: [("synchronous", "2"), ("secure_delete", "1"), ("wal_autocheckpoint", "0")])
  func aConnectionThatWritesIsSetUp(_ pragma: String, _ expected: String) throws {
    #expect(try value("PRAGMA \(pragma)", connection()) == expected)
  }

  /// SQLITE_DBCONFIG_DEFENSIVE.
  @Test func theFileCantBeMadeCorruptBySQL() throws {
    let connection = try connection()
    #expect(try value("PRAGMA journal_mode = OFF", connection) != "off")
    #expect(throws: StorageError.self) {
      try connection.execute("PRAGMA writable_schema = ON")
      try connection.execute("UPDATE sqlite_schema SET sql = ''")
    }
  }

  @Test(arguments: [
    // SQLITE_DBCONFIG_DQS_DML and DQS_DDL.
    "SELECT \"nothing of this name\"", "CREATE TABLE t (a DEFAULT 1, CHECK (a <> \"b\"))",
    // SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION.
    "SELECT load_extension('nothing')",
    // SQLITE_LIMIT_ATTACHED.
    "ATTACH ':memory:' AS other",
    // SQLITE_LIMIT_COLUMN and COMPOUND_SELECT.
    "SELECT 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17",
    "SELECT 1 UNION SELECT 2 UNION SELECT 3",
    // SQLITE_LIMIT_FUNCTION_ARG and LIKE_PATTERN_LENGTH and VARIABLE_NUMBER and LENGTH.
    "SELECT max(1, 2, 3, 4, 5)", "SELECT 'a' LIKE '%aaaaaaaaaaaaaaaaaaaa'", "SELECT ?49",
    "SELECT length(zeroblob(300000000))",
    // SQLITE_LIMIT_VDBE_OP: three steps of a program for each number.
    "SELECT 1 IN (1" + String(repeating: ",1", count: 2000) + ")",
  ])
  func whatNoStatementOfAVaultNeedsIsRefused(_ sql: String) throws {
    let connection = try connection()
    #expect(throws: StorageError.self, "\(sql)") { _ = try value(sql, connection) }
  }

  /// SQLITE_LIMIT_EXPR_DEPTH and SQL_LENGTH.
  @Test func longAndDeepStatementsAreRefused() throws {
    let connection = try connection()
    let deep = String(repeating: "(", count: 40) + "1" + String(repeating: " + 1)", count: 40)
    let long = "SELECT 1 -- " + String(repeating: "x", count: 5000)
    for sql in ["SELECT " + deep, long] {
      #expect(throws: StorageError.self) { _ = try value(sql, connection) }
    }
  }

  /// The library makes files, for the owner alone and before SQLite sees them.
  @Test func sqliteMakesNoVault() throws {
    for mode in [Connection.Mode.readWrite, .readOnly, .immutable] {
      #expect(throws: StorageError.self) {
        _ = try Connection(vault.file("missing.vault").path, mode, until: .now)
      }
    }
    #expect(vault.entries == [])
  }

  @Test(arguments: [
    "relative.vault", "./relative.vault", "file:relative.vault", "file:", "file:///",
    "https://example.com/a.vault", "file:///tmp/..", "file:///tmp/.", "file:///tmp/a%00b",
  ])
  func aPathThatIsNotAbsoluteOrNamesNoFileIsInvalid(_ text: String) throws {
    let url = try #require(URL(string: text))
    let storage = VaultStorage(at: url, keySource: .key(TemporaryVault.key))
    #expect(code { _ = try storage.load(String.self, forKey: "key") } == .invalid)
    #expect(code { try storage.save("value", forKey: "key") } == .invalid)
    #expect(code { _ = try storage.verify() } == .invalid)
    #expect(code { try vault.storage().backup(to: url) } == .invalid)
  }

  /// SQLITE_DBCONFIG_ENABLE_VIEW.
  @Test func aViewIsNotRead() throws {
    let connection = try connection()
    try vault.tamper("CREATE VIEW look AS SELECT 42")
    #expect(throws: StorageError.self) { _ = try value("SELECT * FROM look", connection) }
  }

  /// SQLITE_DBCONFIG_ENABLE_TRIGGER: the schema was checked before somebody added one.
  @Test func aTriggerThatIsAddedToAnOpenVaultDoesNotRun() throws {
    let storage = vault.storage()
    try storage.save("value", forKey: "other")
    try vault.tamper(
      "CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM record "
        + "WHERE sequence < new.sequence; END")
    try storage.save("value", forKey: "key")
    try vault.tamper("DROP TRIGGER t")
    #expect(try vault.storage().load(String.self, forKey: "other") == "value")
    #expect(try vault.storage().verify().isSound)
  }

  /// PRAGMA cell_size_check: a cell that reaches out of its page is found when the page is read.
  @Test func aCellThatIsLargerThanItsPageIsFound() throws {
    var storage: VaultStorage? = vault.storage()
    for index in 0..<20 { try storage?.save("value \(index)", forKey: "key \(index)") }
    storage = nil
    var bytes = try vault.bytes()
    // The first cell's pointer of each leaf of a table leads to the page's last byte.
    let size = VaultSchema.pageSize
    for page in stride(from: size, to: bytes.count, by: size) where bytes[page] == 0x0D {
      bytes[page + 8] = UInt8((size - 1) >> 8)
      bytes[page + 9] = 0xFF
    }
    try vault.put(bytes)
    #expect(code { _ = try vault.storage().load(String.self, forKey: "key 0") } == .damaged)
  }

  /// SQLITE_OPEN_NOFOLLOW.
  @Test func notEvenSQLiteFollowsALink() throws {
    _ = try connection()
    let link = vault.file("link.vault").path
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: vault.path)
    #expect(throws: StorageError.self) { _ = try Connection(link, .readOnly, until: .now) }
  }

  /// Debian's SQLite takes a name that begins with `file:` for a URI.
  @Test func aPathIsNotAURI() throws {
    for name in ["a?mode=memory", "a%41", "a#b", "a b", "ä'\"\n"] {
      let storage = vault.storage(named: name)
      try storage.save("value", forKey: "key")
      #expect(vault.entries.contains(name), "\(name)")
      #expect(
        try Connection(vault.file(name).path, .immutable, until: .now).isInTransaction == false)
    }
  }
}
