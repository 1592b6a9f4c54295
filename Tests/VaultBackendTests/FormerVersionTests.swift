import Foundation
import Testing

@testable import VaultBackend

/// A vault of version 1, as earlier builds wrote it: `Fixtures/version-1.vault` has eight names, of
/// which two were removed.
@Suite struct FormerVersionTests {
  private let vault = TemporaryVault()

  init() throws {
    let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Fixtures/version-1.vault")
    try vault.put(Array(try Data(contentsOf: fixture)))
  }

  // https://sqlite.org/fileformat2.html#the_database_header
  private func version() throws -> UInt8 {
    try vault.tamper("PRAGMA wal_checkpoint(TRUNCATE)")
    return try vault.bytes()[63]
  }

  private func expectValues(_ storage: VaultStorage) throws {
    for index in 0..<4 {
      #expect(try storage.load(String.self, forKey: "key \(index)") == "value \(index)")
    }
    #expect(try storage.load(String.self, forKey: "key 4") == "again 4")
    #expect(try storage.load(String.self, forKey: "key 5") == "newer 5")
    #expect(try storage.load(String.self, forKey: "key 6") == nil)
  }

  @Test func aVaultOfVersion1IsReadAndVerifiedAndStaysAsItIs() throws {
    let before = try vault.bytes()
    let reader = vault.storage(access: .readOnly)
    try expectValues(reader)
    let report = try reader.verify()
    #expect(report.isSound && report.recordCount == 6 && report.generation == 24)
    #expect(try vault.bytes() == before)
    try expectValues(vault.storage())
    #expect(try version() == 1)
  }

  @Test func aChangedVaultOfVersion1IsNotSound() throws {
    try vault.tamper("DELETE FROM record WHERE sequence = 3")
    #expect(try vault.storage().verify().findings.map(\.kind) == [.deletedRecord])
    #expect(code { _ = try vault.storage().rotate(names: true) } == .damaged)
  }

  @Test func theFirstWriteRaisesTheVersionAndCountsTheRemovals() throws {
    let storage = vault.storage()
    try storage.save("new", forKey: "key 7")
    try expectValues(storage)
    #expect(try storage.verify().isSound)
    #expect(try version() == 2)
    let connection = try Connection(vault.path, .readOnly, until: .now + .seconds(10))
    let manifest = try VaultRows.manifest(connection)
    #expect(manifest.count == 1153 && manifest[0] == 2)
    try vault.tamper("DELETE FROM record WHERE value IS NULL")
    #expect(try vault.storage().verify().findings.map(\.kind) == [.alteredRemoval])
  }

  @Test(arguments: ["rotate", "names", "compact", "restore", "repair"])
  func everyWayToWriteRaisesTheVersion(_ way: String) throws {
    let storage = vault.storage()
    let copy = vault.file("copy.vault")
    try storage.backup(to: copy)
    switch way {
    case "rotate": _ = try storage.rotate()
    case "names": _ = try storage.rotate(names: true)
    case "compact": try storage.compact()
    case "restore": try storage.restore(from: copy)
    default:
      try vault.tamper("DELETE FROM record WHERE sequence = 3")
      try storage.repair(accepting: try storage.verify())
    }
    #expect(try storage.verify().isSound)
    #expect(try version() == 2)
    if way != "repair" { try expectValues(storage) }
    let restored = VaultStorage(
      at: vault.file("restored.vault"), keySource: .key(TemporaryVault.key))
    try restored.restore(from: copy)
    try expectValues(restored)
    #expect(try restored.verify().isSound)
    #expect(try vault.bytes("restored.vault")[63] == 2)
  }

  @Test func aVersionThatIsSetBackGainsNothing() throws {
    try vault.storage().save("new", forKey: "key 7")
    try vault.tamper("PRAGMA user_version = 1")
    let storage = vault.storage()
    #expect(try storage.verify().isSound)
    // The removal is counted by the rules that the manifest is of.
    try storage.delete(forKey: "key 7")
    try vault.tamper("DELETE FROM record WHERE value IS NULL")
    #expect(try vault.storage().verify().findings.map(\.kind) == [.alteredRemoval])
  }

  @Test func anOldManifestInANewVaultIsAltered() throws {
    try vault.tamper(
      "ATTACH '\(vault.path).old' AS old; CREATE TABLE old.m AS SELECT * FROM meta WHERE id = 2")
    try vault.storage().save("new", forKey: "key 7")
    try vault.tamper(
      "ATTACH '\(vault.path).old' AS old; UPDATE meta SET value = (SELECT value FROM old.m) "
        + "WHERE id = 2; PRAGMA user_version = 1")
    let storage = vault.storage()
    #expect(try !storage.verify().isSound)
    _ = code { try storage.save("other", forKey: "key 1") }
    #expect(try !storage.verify().isSound)
  }

  @Test func whatWasHiddenInAVaultOfVersion1IsFoundOnceItIsOverwrittenAndRemoved() throws {
    try vault.tamper(
      "ATTACH '\(vault.path).old' AS old; CREATE TABLE old.r AS SELECT * FROM record "
        + "WHERE sequence = 3; DELETE FROM record WHERE sequence = 3")
    _ = try vault.run("save", "key 0", "newer")
    _ = try vault.run("delete", "key 0")
    try vault.tamper(
      "ATTACH '\(vault.path).old' AS old; DELETE FROM record WHERE name = (SELECT name FROM old.r); "
        + "INSERT INTO record SELECT * FROM old.r")
    #expect(try vault.storage().verify().findings.map(\.kind) == [.alteredRemoval])
  }
}
