import Foundation
import TestSupport
import Testing
import VaultBackend

/// What lies beside a vault and is stale, or another's.
@Suite struct StrayFileTests {
  private let vault = TemporaryVault()

  @Test func anIndexThatNobodyHoldsIsMadeAnew() throws {
    for fill in [UInt8(0), 1, 0xFF] {
      try vault.saveAndDie("newest-\(fill)")
      try vault.put([UInt8](repeating: fill, count: 65_536), "test.vault-shm")
      #expect(try vault.storage().load(String.self, forKey: "key") == "newest-\(fill)")
      #expect(try vault.storage().verify().isSound)
    }
  }

  @Test func aLogWithoutItsVaultIsNotTakenForAnothers() throws {
    try vault.saveAndDie()
    let log = try vault.bytes("test.vault-wal")
    try FileManager.default.removeItem(at: vault.url)
    // A vault made now would be read together with that log.
    #expect(code { try vault.storage().save("value", forKey: "other") } == .damaged)
    #expect(try vault.bytes("test.vault-wal") == log)
    #expect(!vault.entries.contains("test.vault"))
    #expect(code { _ = try vault.storage().load(String.self, forKey: "key") } == .damaged)
    for name in ["test.vault-wal", "test.vault-shm"] {
      try? FileManager.default.removeItem(at: vault.file(name))
    }
    try vault.storage().save("value", forKey: "other")
  }

  @Test(arguments: ["test.vault-notice", "test.vault-shm"])
  func whatIsAnothersBesideANewVaultIsKept(_ name: String) throws {
    try vault.put(Array("mine".utf8), name)
    #expect(code { try vault.storage().save("value", forKey: "key") } == .invalid)
    let other = vault.storage(named: "other.vault")
    try other.save("value", forKey: "key")
    #expect(code { try other.backup(to: vault.url) } == .invalid)
    try other.backup(to: vault.file("copy.vault"))
    #expect(code { try vault.storage().restore(from: vault.file("copy.vault")) } == .invalid)
    #expect(try vault.bytes(name) == Array("mine".utf8))
    #expect(!vault.entries.contains("test.vault"))
  }

  @Test(arguments: ["-wal", "-shm", "-journal", "-notice"])
  func noKeyFileIsMadeWhereAVaultHasAFile(_ suffix: String) throws {
    let source = KeySource.file(vault.file("other.vault" + suffix))
    #expect(code { try vault.storage(source).save("value", forKey: "key") } == .invalid)
    #expect(!vault.entries.contains { $0.hasPrefix("other") })
  }

  @Test func aBackupIsNotMixedWithTheLogOfWhatWasThereBefore() throws {
    try vault.saveAndDie()
    for name in ["test.vault", "test.vault-wal"] {
      try vault.put(try vault.bytes(name), name.replacing("test", with: "copy"))
    }
    let storage = vault.storage()
    for index in 0..<100 { try storage.save("value \(index)", forKey: "key") }
    try storage.backup(to: vault.file("copy.vault"), replacing: true)
    let copy = vault.storage(named: "copy.vault")
    #expect(try copy.load(String.self, forKey: "key") == "value 99")
    #expect(try copy.verify().isSound)
  }

  @Test func aVaultThatWasLostButForItsLogIsRestoredWithoutIt() throws {
    try vault.storage().save("old", forKey: "key")
    try vault.storage().backup(to: vault.file("copy.vault"))
    try vault.saveAndDie()
    try FileManager.default.removeItem(at: vault.url)
    #expect(code { try vault.storage().restore(from: vault.file("copy.vault")) } == .damaged)
    try FileManager.default.removeItem(at: vault.file("test.vault-wal"))
    try vault.storage().restore(from: vault.file("copy.vault"))
    #expect(try vault.storage().load(String.self, forKey: "key") == "old")
    #expect(try vault.storage().verify().isSound)
  }
}
