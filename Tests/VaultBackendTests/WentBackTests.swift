import Foundation
import TestSupport
import Testing

@testable import VaultBackend

/// A vault that is put back whole while programs use it.
@Suite struct WentBackTests {
  private let vault = TemporaryVault()
  private var copy: URL { vault.file("copy.vault") }

  /// A vault of twenty values, and a copy of what it was before the last write.
  private func fill() throws -> VaultStorage {
    let storage = vault.storage()
    for index in 0..<20 { try storage.save("value \(index)", forKey: "key \(index)") }
    try storage.backup(to: copy)
    try storage.save("newer", forKey: "key 0")
    return storage
  }

  /// Makes the vault what the copy is, without the keys.
  private func putBack(_ name: String = "copy.vault") throws {
    try vault.tamper(
      """
      ATTACH '\(vault.file(name).path)' AS old; DELETE FROM meta; INSERT INTO meta SELECT * FROM old.meta;
      DELETE FROM record; INSERT INTO record SELECT * FROM old.record
      """)
  }

  @Test func aVaultThatGoesBackWhileTheProgramRunsIsDamaged() throws {
    let storage = try fill()
    try putBack()
    for _ in 0..<2 {
      let error = #expect(throws: StorageError.self) {
        try storage.load(String.self, forKey: "key 0")
      }
      #expect(error?.code == .damaged)
      #expect(error?.message.contains("was replaced by an older version (commit ") == true)
    }
    #expect(code { try storage.save("other", forKey: "key 1") } == .damaged)
    #expect(code { _ = try storage.keys() } == .damaged)
    // Another storage of the same process knows as well.
    #expect(code { _ = try vault.storage(access: .readOnly).keys() } == .damaged)
    #expect(try storage.verify().findings.map(\.kind) == [.rolledBackVault])
    // Who has not seen more can't tell.
    #expect(try vault.run("load", "key 0") == "value 0")
  }

  @Test func anotherStoreInItsPlaceIsFollowed() throws {
    let storage = try fill()
    let other = vault.storage(named: "other.vault")
    try other.save("theirs", forKey: "key 0")
    try other.backup(to: vault.file("another.vault"))
    try putBack("another.vault")
    #expect(try storage.load(String.self, forKey: "key 0") == "theirs")
    try storage.save("ours", forKey: "key 0")
    #expect(try storage.verify().isSound)
  }

  @Test func numbersThatAreRaisedDoNotHideThatAVaultWentBack() throws {
    let storage = try fill()
    try putBack()
    try vault.tamper("UPDATE meta SET sequence = sequence + 1000 WHERE id = 2")
    #expect(code { _ = try storage.load(String.self, forKey: "key 0") } == .damaged)
    #expect(try !storage.verify().isSound)
  }

  @Test func whoAcceptsThatAVaultWentBackGoesOnAndSoDoTheProgramsThatRun() throws {
    let storage = try fill()
    let child = try vault.serve()
    #expect(try child.ask("load-read-only key") == "nil")
    _ = try child.ask("save key seen")
    try putBack()
    #expect(code { _ = try storage.keys() } == .damaged)
    let report = try storage.verify()
    try storage.repair(accepting: report)
    #expect(try storage.verify().isSound)
    #expect(try storage.load(String.self, forKey: "key 0") == "value 0")
    #expect(try child.ask("load key") == "nil")
    #expect(try child.ask("save key again") == "saved")
    #expect(try storage.load(String.self, forKey: "key") == "again")
  }

  @Test func aRestorationIsNotTakenForAVaultThatWentBack() throws {
    let storage = try fill()
    let child = try vault.serve()
    for index in 0..<30 { _ = try child.ask("save key \(index)") }
    let before = try storage.verify().generation
    try storage.restore(from: copy)
    #expect(try storage.verify().generation > before + 1 << 32)
    #expect(try child.ask("load key") == "nil")
    #expect(try child.ask("save key after") == "saved")
    #expect(try storage.load(String.self, forKey: "key") == "after")
    #expect(try storage.verify().isSound)
  }

  @Test func aVaultThatWentBackCanBeRestored() throws {
    let storage = try fill()
    let latest = vault.file("latest.vault")
    try storage.backup(to: latest)
    try putBack()
    #expect(code { _ = try storage.keys() } == .damaged)
    try storage.restore(from: latest)
    #expect(try storage.load(String.self, forKey: "key 0") == "newer")
    #expect(try storage.verify().isSound)
  }

  @Test func aManifestOfAnotherCommitIsNotTakenOn() throws {
    _ = try fill()
    try vault.tamper("UPDATE meta SET sequence = sequence + 5 WHERE id = 2")
    _ = try vault.run("save", "key 3", "other")
    let report = try vault.storage().verify()
    #expect(report.findings.contains { $0.kind == .alteredManifest })
  }
}
