import CryptoCore
import Foundation
import TestSupport
import Testing
import VaultBackend

/// What somebody does who has the data keys of before a rotation, and may write to the file.
struct EndedKeysTests {
  private let vault = TemporaryVault()
  private let newSource = KeySource.key(SymmetricKey(data: Data(repeating: 9, count: 32)))

  /// A vault with values, of which somebody has a copy and the key.
  private func stolen(_ count: Int = 0) throws -> TemporaryVault {
    let storage = vault.storage()
    for index in 0..<count { try storage.save("value \(index)", forKey: "key \(index)") }
    let copy = TemporaryVault()
    try storage.backup(to: copy.url)
    return copy
  }

  /// Puts the record that was written last to a copy into a vault, as SQLite can do without any
  /// key.
  private func plant(from copy: TemporaryVault, in name: String = "test.vault") throws {
    try vault.tamper(
      """
      ATTACH '\(copy.path)' AS stolen;
      REPLACE INTO record SELECT
        1 + max((SELECT max(sequence) FROM record), (SELECT max(sequence) FROM meta)), name, value
        FROM stolen.record WHERE sequence = (SELECT max(sequence) FROM stolen.record)
      """, name)
  }

  /// 66 bytes that name data key 1, under a name that nobody uses.
  private func plantJunk(_ name: String = "test.vault") throws {
    try vault.tamper(
      """
      INSERT INTO record SELECT
        1 + max((SELECT max(sequence) FROM record), (SELECT max(sequence) FROM meta)),
        randomblob(64), CAST(x'010100000001' || zeroblob(60) AS BLOB)
      """, name)
  }

  // MARK: - Rotations

  /// Makes a copy while a rotation goes on, which is what a kill at that moment leaves.
  private func interrupt() throws {
    let unfinished = vault.file("unfinished.vault")
    var isFirst = true
    _ = try vault.storage().keyAdministration.rotate(openedBy: newSource) { _, _ in
      guard isFirst else { return }
      isFirst = false
      noError { try vault.storage(newSource).backup(to: unfinished) }
    }
  }

  private func storage(_ name: String) -> VaultStorage {
    VaultStorage(at: vault.file(name), keySource: newSource)
  }

  @Test func aForgeryInARotationThatWasInterruptedIsNotSealedAnew() throws {
    let copy = try stolen(200)
    try interrupt()
    let unfinished = storage("unfinished.vault")
    let old = (0..<200).map { "key \($0)" }
    for key in old { #expect(try unfinished.load(String.self, forKey: key) != nil) }
    try copy.storage().save("forged", forKey: "key 7")
    try plant(from: copy, in: "unfinished.vault")
    try plantJunk("unfinished.vault")
    let report = try unfinished.keyAdministration.reencrypt()
    #expect(report.remaining == 0 && report.setAside >= 2)
    #expect(report.setAsideKeys.contains("key 7"))
    let next = storage("unfinished.vault")
    #expect(code { _ = try next.load(String.self, forKey: "key 7") } == .damaged)
    // Of the part in which it was, nobody can tell what else is forged; all others are there.
    #expect(report.setAsideKeys.count < 30)
    for key in old where !report.setAsideKeys.contains(key) {
      #expect(try next.load(String.self, forKey: key)?.hasPrefix("value") == true)
    }
    // Somebody has looked, and drops what is not theirs.
    try next.delete(forKey: "key 7")
    let back = try next.keyAdministration.reencrypt(readmitting: true)
    #expect(back.reencrypted == report.setAsideKeys.count - 1 && back.setAside == 1)
    for key in old where key != "key 7" {
      #expect(try next.load(String.self, forKey: key)?.hasPrefix("value") == true)
    }
  }

  @Test func aForgeryThatIsPlantedWhileARotationGoesOnIsNotSealedAnew() throws {
    let copy = try stolen(200)
    for index in 0..<200 { try copy.storage().save("forged", forKey: "key \(index)") }
    var isFirst = true
    let report = try vault.storage().keyAdministration.rotate(openedBy: newSource) { _, _ in
      guard isFirst else { return }
      isFirst = false
      noError {
        try vault.tamper(
          """
          ATTACH '\(copy.path)' AS stolen;
          REPLACE INTO record SELECT sequence + 10000, name, value FROM stolen.record
          """)
      }
    }
    #expect(report.reencrypted == 64 && report.setAside == 200 && report.setAsideKeys.count == 200)
    let next = vault.storage(newSource)
    for index in 0..<200 {
      #expect(code { _ = try next.load(String.self, forKey: "key \(index)") } == .damaged)
    }
  }

  @Test func withoutALeakWhatIsNotAccountedForKeepsItsKey() throws {
    let copy = try stolen(20)
    try copy.storage().save("put back", forKey: "key 7")
    try plant(from: copy)
    let report = try vault.storage().keyAdministration.rotateDataKey()
    #expect(report.remaining >= 1 && report.setAside == 0)
    #expect(report.reencrypted + report.remaining == 20)
    let next = vault.storage()
    for index in 0..<20 { #expect(try next.load(String.self, forKey: "key \(index)") != nil) }
    #expect(try !next.verify().isSound)
    try next.repair(accepting: try next.verify())
    #expect(try next.keyAdministration.reencrypt().remaining == 0)
    #expect(try next.load(String.self, forKey: "key 7") == "put back")
  }

  /// A row that is taken out of the file, and another put there so that as many are left.
  @Test func aRecordThatWasHiddenDuringARotationIsNotLost() throws {
    let storage = vault.storage()
    try storage.save("value", forKey: "key")
    let copy = TemporaryVault()
    try storage.backup(to: copy.url)
    try vault.tamper(
      """
      UPDATE record SET name = randomblob(64), value = CAST(x'010100000002' || zeroblob(60) AS BLOB)
      """)
    let report = try vault.storage().keyAdministration.rotate()
    #expect(report.reencrypted == 0 && report.retiredKeyCount == 1)
    try vault.tamper("DELETE FROM record")
    try plant(from: copy)
    let next = vault.storage()
    #expect(code { _ = try next.load(String.self, forKey: "key") } == .damaged)
    let back = try next.keyAdministration.reencrypt(readmitting: true)
    #expect(back.reencrypted == 1)
    #expect(try next.load(String.self, forKey: "key") == "value")
  }

  @Test func aSoundVaultKeepsNoKeyThatNoRecordNeeds() throws {
    let storage = vault.storage()
    for index in 0..<20 { try storage.save("value \(index)", forKey: "key \(index)") }
    for _ in 0..<3 {
      #expect(try storage.keyAdministration.rotateDataKey().retiredKeyCount == 0)
      #expect(try storage.keyAdministration.rotate().retiredKeyCount == 0)
    }
  }

  // MARK: - New names

  @Test func afterARepairJunkDoesNotKeepNamesFromBeingHashedAnew() throws {
    let copy = try stolen(20)
    try copy.storage().save("forged", forKey: "key 7")
    for _ in 0..<3 { try plantJunk() }
    let storage = vault.storage()
    let keys = storage.keyAdministration
    #expect(code { _ = try keys.rotate(openedBy: newSource, names: true) } == .damaged)
    try storage.repair(accepting: try storage.verify(), droppingUnreadable: true)
    let report = try storage.keyAdministration.rotate(openedBy: newSource, names: true)
    #expect(report.reencrypted == 20 && report.remaining == 0 && report.setAside == 0)
    let next = vault.storage(newSource)
    for index in 0..<20 {
      #expect(try next.load(String.self, forKey: "key \(index)") == "value \(index)")
    }
    #expect(try next.verify().isSound)
    try plant(from: copy)
    #expect(try vault.storage(newSource).load(String.self, forKey: "key 7") == "value 7")
  }

  /// Under the new hash of its name there would be nothing.
  @Test func aValueOfAnotherTagDoesNotGoWhenNamesAreHashedAnew() throws {
    let storage = vault.storage()
    try storage.save("value", forKey: "key")
    let tagged = vault.storage(tag: Data([1]))
    try tagged.save("tagged", forKey: "tagged")
    #expect(code { _ = try storage.keyAdministration.rotate(names: true) } == .damaged)
    #expect(try tagged.load(String.self, forKey: "tagged") == "tagged")
    try plantJunk()
    #expect(code { _ = try storage.keyAdministration.rotate(names: true) } == .damaged)
    #expect(try tagged.load(String.self, forKey: "tagged") == "tagged")
  }
}
