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
