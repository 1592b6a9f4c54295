import Foundation
import Testing
import VaultBackend

@Suite struct VerificationTests {
  private let vault = TemporaryVault()

  private func fill(_ count: Int = 20) throws -> VaultStorage {
    let storage = vault.storage()
    for index in 0..<count { try storage.save("value \(index)", forKey: "key \(index)") }
    return storage
  }

  private var keys: [String] { (0..<20).map { "key \($0)" } }

  @Test func aVaultThatNobodyTouchedIsSound() throws {
    let storage = try fill()
    try storage.delete(forKey: "key 3")
    try storage.save("new", forKey: "key 4")
    let report = try storage.verify(expecting: keys)
    #expect(report.isSound && report.recordCount == 19)
  }

  @Test func whatIsWrittenOverAndOverStaysSoundUnderAllItsKeys() throws {
    let storage = vault.storage()
    for round in 0..<8 {
      try storage.transaction { transaction in
        for index in 0..<30 {
          let value = index % 8 == round ? nil : "\(round) \(index)"
          try transaction.save(value, forKey: "key \(index)")
        }
      }
      try storage.save("\(round) 0", forKey: "key 0")
      if round == 2 { _ = try storage.keyAdministration.rotate() }
      if round == 4 { _ = try storage.keyAdministration.rotate(names: true) }
      if round == 6 { _ = try vault.run("save", "key 1", "of another process") }
      #expect(try storage.verify().isSound)
      #expect(try storage.load(forKey: "key 29") == (round == 5 ? nil : "\(round) 29"))
    }
  }

  @Test func aVaultThatIsNotThereIsNotCalledSound() throws {
    #expect(code { _ = try vault.storage().verify() } == .unavailable)
    #expect(vault.entries.isEmpty)
  }

  @Test func aRecordThatSomebodyRemovedIsToldByItsNameIfThatIsExpected() throws {
    let storage = try fill()
    try vault.tamper("DELETE FROM record WHERE sequence = (SELECT min(sequence) FROM record)")
    let report = try storage.verify(expecting: keys)
    #expect(report.findings.map(\.kind) == [.deletedRecord])
    #expect(report.findings.first?.keys == ["key 0"])
    #expect(try storage.verify().findings.first?.count == 1)
  }

  @Test func aRecordThatSomebodyPutBackIsFoundAsAddedByItsName() throws {
    let storage = try fill()
    try vault.tamper(
      "ATTACH '\(vault.path).old' AS old; CREATE TABLE old.r AS SELECT * FROM record "
        + "WHERE sequence = (SELECT min(sequence) FROM record)")
    try storage.delete(forKey: "key 0")
    try vault.tamper(
      "ATTACH '\(vault.path).old' AS old; DELETE FROM record WHERE value IS NULL; "
        + "INSERT INTO record SELECT * FROM old.r")
    let report = try storage.verify(expecting: keys)
    #expect(report.findings.map(\.kind) == [.addedRecord])
    #expect(report.findings.first?.keys == ["key 0"])
  }

  @Test func aRecordThatIsOlderThanTheLastWriteIsFoundAsRolledBack() throws {
    let storage = try fill()
    try vault.tamper(
      "ATTACH '\(vault.path).old' AS old; CREATE TABLE old.r AS SELECT * FROM record "
        + "WHERE sequence = (SELECT min(sequence) FROM record)")
    try storage.save("newer", forKey: "key 0")
    try vault.tamper(
      "ATTACH '\(vault.path).old' AS old; UPDATE record SET value = (SELECT value FROM old.r) "
        + "WHERE name = (SELECT name FROM old.r)")
    let report = try vault.storage().verify()
    #expect(report.findings.map(\.kind) == [.rolledBackRecord])
    #expect(report.findings.first?.keys.contains("key 0") == true)
  }

  /// Also one whose header, nonce and tag are as they were.
  @Test(arguments: [0, 1, 6, 17, 18, 30, 40, 60])
  func aRecordWithAnyByteChangedIsDamagedAndNotOfAnotherTag(offset: Int) throws {
    _ = try fill()
    try vault.tamper(
      "UPDATE record SET value = CAST(substr(value, 1, \(offset)) || CASE substr(value, \(offset) + 1, 1) "
        + "WHEN x'FF' THEN x'FE' ELSE x'FF' END || substr(value, \(offset) + 2) AS BLOB) "
        + "WHERE sequence = (SELECT max(sequence) FROM record)")
    let report = try vault.storage().verify(expecting: keys)
    #expect(report.findings.map(\.kind) == [.damagedRecord] && report.otherTagCount == 0)
    #expect(report.findings.first?.keys == ["key 19"])
  }

  @Test(arguments: ["x''", "zeroblob(857)", "zeroblob(1153)", "x'02'"])
  func anAlteredManifestIsFoundAndIsNotLaundered(_ blob: String) throws {
    _ = try fill()
    try vault.tamper("UPDATE meta SET value = \(blob) WHERE id = 2")
    let storage = vault.storage()
    #expect(try storage.verify().findings.map(\.kind) == [.alteredManifest])
    // An empty one can't be told from none, and keeps writers out.
    _ = code { try storage.save("other", forKey: "key 1") }
    #expect(try storage.verify().findings.map(\.kind) == [.alteredManifest])
  }

  @Test func anOlderManifestIsFound() throws {
    try fill().save("before", forKey: "key 1")
    try vault.tamper(
      "ATTACH '\(vault.path).old' AS old; CREATE TABLE old.m AS SELECT * FROM meta")
    try vault.storage().save("other", forKey: "key 1")
    try vault.tamper(
      "ATTACH '\(vault.path).old' AS old; "
        + "UPDATE meta SET value = (SELECT value FROM old.m WHERE id = 2) WHERE id = 2")
    let storage = vault.storage()
    #expect(try !storage.verify().isSound)
    // This process has seen a later one; a process that has not goes on, and does not hide it.
    #expect(code { try storage.save("third", forKey: "key 2") } == .damaged)
    _ = try vault.run("save", "key 2", "third")
    #expect(try !storage.verify().isSound)
    #expect(try vault.run("load", "key 2") == "third")
  }

  @Test func contradictingSequenceNumbersAreFoundAndRepaired() throws {
    _ = try fill()
    try vault.tamper("DELETE FROM meta WHERE id = 3")
    let storage = vault.storage()
    #expect(code { _ = try storage.load(String.self, forKey: "key 1") } == .damaged)
    let report = try storage.verify()
    #expect(report.findings.map(\.kind) == [.damagedFile])
    try storage.repair(accepting: report)
    #expect(try storage.verify().isSound)
    #expect(try storage.load(String.self, forKey: "key 1") == "value 1")
  }

  @Test func whatWasAcceptedIsSoundFromThenOn() throws {
    let storage = try fill()
    try vault.tamper(
      """
      DELETE FROM record WHERE sequence = (SELECT min(sequence) FROM record);
      UPDATE record SET value = zeroblob(60) WHERE sequence = (SELECT max(sequence) FROM record);
      """)
    let report = try storage.verify(expecting: keys)
    #expect(!report.isSound)
    try storage.repair(accepting: report)
    #expect(try storage.verify(expecting: keys).isSound)
    #expect(code { _ = try storage.load(String.self, forKey: "key 19") } == .unsupported)
    #expect(try storage.load(String.self, forKey: "key 10") == "value 10")
    try storage.save("again", forKey: "key 19")
    #expect(try storage.load(String.self, forKey: "key 19") == "again")
    #expect(try vault.storage().verify().isSound)
  }

  @Test func recordsOfAnotherAuthenticationTagAreSoundAndStay() throws {
    let storage = try fill()
    let tagged = vault.storage(tag: Data([1]))
    for index in 0..<10 { try tagged.save(index, forKey: "tagged \(index)") }
    let report = try storage.verify()
    #expect(report.isSound && report.otherTagCount == 10 && report.recordCount == 30)
    #expect(try tagged.verify().otherTagCount == 20)
    try vault.tamper("DELETE FROM record WHERE sequence = (SELECT min(sequence) FROM record)")
    try storage.repair(accepting: try storage.verify())
    #expect(try storage.verify().isSound)
    for index in 0..<10 { #expect(try tagged.load(Int.self, forKey: "tagged \(index)") == index) }
    let copy = vault.file("copy.vault")
    try tagged.backup(to: copy)
    try tagged.save(-1, forKey: "tagged 0")
    try tagged.restore(from: copy)
    #expect(try tagged.load(Int.self, forKey: "tagged 0") == 0)
    #expect(try storage.load(String.self, forKey: "key 5") == "value 5")
  }

  /// A row was deleted, which is told; then another one is put back, and the number of the last
  /// commit is as it was.
  @Test(arguments: [1, 200]) func whatChangedAfterTheReportIsNotAccepted(_ count: Int) throws {
    let storage = vault.storage()
    for index in 0..<count + 20 { try storage.save("value \(index)", forKey: "key \(index)") }
    try vault.tamper(
      "ATTACH '\(vault.path).old' AS old; CREATE TABLE old.r AS SELECT * FROM record")
    for index in 1..<count + 20 { try storage.save("newer", forKey: "key \(index)") }
    try vault.tamper("DELETE FROM record WHERE sequence = (SELECT min(sequence) FROM record)")
    let report = try storage.verify()
    #expect(report.findings.map(\.kind) == [.deletedRecord])
    try vault.tamper(
      "ATTACH '\(vault.path).old' AS old; UPDATE record SET value = (SELECT value FROM old.r "
        + "WHERE old.r.name = record.name) WHERE sequence = (SELECT max(sequence) FROM record)")
    #expect(code { try storage.repair(accepting: report) } == .busy)
    #expect(code { _ = try storage.previewRepair(accepting: report) } == .busy)
    let again = try storage.verify()
    // Its findings may read the same, where both rows are of one bucket.
    #expect(again.generation == report.generation && !again.isSound)
    try storage.repair(accepting: again)
    #expect(try storage.verify().isSound)
  }

  @Test func whatARotationHasNotComeToIsCounted() throws {
    let storage = vault.storage()
    for index in 0..<200 { try storage.save(index, forKey: "key \(index)") }
    #expect(try storage.verify().oldKeyCount == 0)
    var counts: [Int: Int] = [:]
    _ = try storage.keyAdministration.rotate { done, _ in
      noError { counts[done] = try vault.storage().verify().oldKeyCount }
    }
    #expect(counts == [64: 136, 128: 72, 192: 8, 200: 0])
    #expect(try storage.verify().oldKeyCount == 0)
  }
}
