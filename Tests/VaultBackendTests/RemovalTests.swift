import Foundation
import TestSupport
import Testing

@testable import VaultBackend

/// What somebody without the keys hides while the program removes it, and puts back afterwards.
@Suite struct RemovalTests {
  private let vault = TemporaryVault()

  private func sql(_ text: String) -> String {
    text.replacingOccurrences(of: "%", with: vault.path)
  }

  /// A vault of a few values, of which the first written has disappeared from the file.
  private func hide() throws {
    // By another process, so that this one remembers nothing.
    let child = try vault.serve()
    for index in 0..<20 { _ = try child.ask("save key-\(index) value-\(index)") }
    child.release()
    _ = try child.lines()
    // The first numbers are those of the header.
    try vault.tamper(
      sql(
        "ATTACH '%.old' AS old; CREATE TABLE old.r AS SELECT * FROM record "
          + "ORDER BY sequence LIMIT 1; DELETE FROM record WHERE name = (SELECT name FROM old.r)"))
  }

  private func putBack() throws {
    try vault.tamper(
      sql(
        "ATTACH '%.old' AS old; DELETE FROM record WHERE name = (SELECT name FROM old.r); "
          + "INSERT OR REPLACE INTO record SELECT * FROM old.r"))
  }

  private func tombstoneCount() throws -> Int {
    let connection = try Connection(vault.path, .readOnly, until: .now + .seconds(10))
    var count = 0
    try connection.reading { () throws(StorageError) in
      try VaultRows.visitRemovals(connection) { _, _ in count += 1 }
    }
    return count
  }

  @Test func aValueThatWasHiddenOverwrittenAndRemovedDoesNotComeBackUnnoticed() throws {
    try hide()
    _ = try vault.run("save", "key-0", "newer")
    _ = try vault.run("delete", "key-0")
    try putBack()
    let storage = vault.storage()
    #expect(try storage.load(String.self, forKey: "key-0") == "value-0")
    let report = try storage.verify()
    #expect(report.findings.map(\.kind) == [.alteredRemoval])
    #expect(report.findings.first?.keys.contains("key-0") == true)
    try storage.repair(accepting: report)
    #expect(try storage.verify().isSound)
  }

  @Test func aValueThatWasHiddenWhileItWasRemovedDoesNotComeBackUnnoticed() throws {
    try hide()
    _ = try vault.run("delete", "key-0")
    try putBack()
    #expect(try vault.storage().verify().findings.map(\.kind) == [.alteredRemoval])
  }

  @Test func aTransactionCountsTheRemovalOfAValueThatItDidNotFind() throws {
    try hide()
    try vault.storage().transaction { transaction in
      #expect(try !transaction.contains("key-0"))
      try transaction.delete(forKey: "key-0")
    }
    try putBack()
    #expect(try vault.storage().verify().findings.map(\.kind) == [.alteredRemoval])
  }

  @Test func aTombstoneThatWasPlantedDoesNotStandForARemoval() throws {
    try hide()
    try vault.tamper(
      sql("ATTACH '%.old' AS old; INSERT INTO record SELECT sequence, name, NULL FROM old.r"))
    _ = try vault.run("delete", "key-0")
    try putBack()
    #expect(try !vault.storage().verify().isSound)
  }

  @Test func whatIsHiddenStaysFoundHoweverMuchIsRemovedAfterwards() throws {
    try hide()
    _ = try vault.run("save", "key-0", "newer")
    _ = try vault.run("delete", "key-0")
    let storage = vault.storage()
    try storage.transaction { transaction in
      for index in 0..<5000 { try transaction.save(index, forKey: "passing \(index)") }
    }
    try storage.transaction { transaction in
      for index in 0..<5000 { try transaction.save(Int?.none, forKey: "passing \(index)") }
    }
    try storage.compact()
    try putBack()
    #expect(try !vault.storage().verify().isSound)
  }

  @Test func removalsAreForgottenInTimeAndTheVaultStaysSound() throws {
    let storage = vault.storage()
    let other = vault.storage(access: .readOnly)
    for round in 0..<2 {
      try storage.transaction { transaction in
        for index in 0..<6000 { try transaction.save(index, forKey: "\(round) \(index)") }
      }
      #expect(try other.load(Int.self, forKey: "\(round) 7") == 7)
      try storage.transaction { transaction in
        for index in 0..<6000 { try transaction.save(Int?.none, forKey: "\(round) \(index)") }
      }
      #expect(try other.load(Int.self, forKey: "\(round) 7") == nil)
      #expect(try tombstoneCount() <= 64 * 32)
      #expect(try storage.verify().isSound)
    }
    // One by one, also of those that are written again.
    for index in 0..<500 {
      try storage.save(index, forKey: "1 \(index)")
      try storage.delete(forKey: "1 \(index)")
    }
    #expect(try tombstoneCount() <= 64 * 33)
    #expect(try storage.verify().isSound && other.verify().isSound)
    try storage.compact()
    #expect(try tombstoneCount() == 0)
    #expect(try storage.verify().isSound)
  }

  @Test func whatOneProcessForgetsAnotherDoesNotTakeOutAgain() throws {
    let storage = vault.storage()
    let child = try vault.serve()
    _ = try child.ask("save key first")
    _ = try child.ask("delete key")
    #expect(try child.ask("load key") == "nil")
    try storage.transaction { transaction in
      for index in 0..<6000 { try transaction.save(index, forKey: "passing \(index)") }
    }
    try storage.transaction { transaction in
      for index in 0..<6000 { try transaction.save(Int?.none, forKey: "passing \(index)") }
    }
    _ = try child.ask("save key second")
    #expect(try storage.verify().isSound)
    #expect(try storage.load(String.self, forKey: "key") == "second")
  }

  @Test func removingWhatIsNotThereIsNoWriteWhereNothingIsHidden() throws {
    let storage = vault.storage()
    for index in 0..<20 { try storage.save(index, forKey: "key \(index)") }
    let before = try storage.verify().generation
    for index in 0..<20 { try storage.delete(forKey: "absent \(index)") }
    #expect(try storage.verify().generation == before)
    try storage.delete(forKey: "key 0")
    try storage.delete(forKey: "key 0")
    #expect(try storage.verify().generation == before + 1)
  }

  @Test func newNamesOfAVaultWhoseValuesWereAllRemovedKeepItSound() throws {
    let storage = vault.storage()
    try storage.save("value", forKey: "key")
    try storage.delete(forKey: "key")
    for _ in 0..<2 {
      _ = try storage.keyAdministration.rotate()
      #expect(try storage.verify().isSound)
      _ = try storage.keyAdministration.rotate(names: true)
      #expect(try storage.verify().isSound)
    }
    try storage.save("again", forKey: "key")
    #expect(try vault.storage().verify().isSound)
  }

  @Test func aTombstoneThatIsGoneOrAlteredIsFound() throws {
    let storage = vault.storage()
    for index in 0..<20 { try storage.save(index, forKey: "key \(index)") }
    for index in 0..<5 { try storage.delete(forKey: "key \(index)") }
    #expect(try storage.verify().isSound)
    try vault.tamper("UPDATE record SET sequence = -sequence WHERE value IS NULL")
    #expect(try storage.verify().findings.map(\.kind) == [.alteredRemoval])
    try vault.tamper("DELETE FROM record WHERE value IS NULL")
    let finding = try #require(try storage.verify().findings.first)
    #expect(finding.kind == .alteredRemoval && finding.count == 5)
    #expect(code { _ = try storage.keyAdministration.rotate(names: true) } == .damaged)
    try storage.repair(accepting: try storage.verify())
    _ = try storage.keyAdministration.rotate(names: true)
    #expect(try storage.verify().isSound)
  }
}
