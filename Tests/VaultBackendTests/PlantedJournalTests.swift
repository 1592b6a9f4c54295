import Foundation
import TestSupport
import Testing

@testable import VaultBackend

/// A rollback journal that somebody else has put beside a vault, and that leads to another file:
/// SQLite removes that when it plays such a one back.
@Suite struct PlantedJournalTests {
  private let vault = TemporaryVault()
  private var victim: URL { vault.file("precious") }
  private var journal: String { vault.path + "-journal" }

  /// Makes a vault that nobody has open, and such a journal.
  private func plant(beside name: String = "test.vault") throws {
    try vault.put(Array("precious".utf8), "precious")
    let file = try vault.bytes(name)
    let page = Int(file[16]) << 8 | Int(file[17])
    func word(_ number: Int) -> [UInt8] {
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
    let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    let target = Array(victim.path.utf8)
    // No page is in it.
    var bytes = magic + [0, 12345, file.count / page, 512, page].flatMap(word)
    bytes += [UInt8](repeating: 0, count: 512 - bytes.count)
    bytes += word(0x4000_0000 / page + 1) + target + word(target.count)
    bytes += word(target.reduce(0) { $0 + Int(Int8(bitPattern: $1)) }) + magic
    try vault.put(bytes, name + "-journal")
  }

  /// A vault that nobody has open.
  private func make() throws {
    #expect(try helper.start(["save", vault.path, "key", "newest"]).lines() == ["saved"])
  }

  private func expectRefused(_ path: String? = nil, _ body: () throws -> Void) {
    let failure = #expect(throws: StorageError.self) { try body() }
    #expect(failure?.code == .damaged)
    #expect(failure?.path == path ?? journal)
    #expect(FileManager.default.fileExists(atPath: victim.path))
  }

  private func storage(_ access: StoreAccess = .readWrite) -> VaultStorage {
    vault.storage(access: access)
  }

  @Test(arguments: [StoreAccess.readOnly, .readWrite])
  func nobodyFollowsIt(_ access: StoreAccess) throws {
    try make()
    let other = vault.storage(named: "other.vault")
    try other.save("value", forKey: "key")
    let report = try other.verify()
    try plant()
    let storage = storage(access)
    expectRefused { _ = try storage.load(String.self, forKey: "key") }
    expectRefused { _ = try storage.keyAdministration.slots() }
    expectRefused { _ = try storage.verify() }
    expectRefused { try storage.backup(to: vault.file("copy")) }
    if access == .readWrite {
      expectRefused { try storage.save("other", forKey: "key") }
      expectRefused { try storage.compact() }
      expectRefused { _ = try storage.previewRepair(accepting: report) }
    }
  }

  @Test func norThatOfABackup() throws {
    try make()
    let copy = vault.file("copy.vault")
    try vault.storage().backup(to: copy)
    try plant(beside: "copy.vault")
    let path = copy.path + "-journal"
    expectRefused(path) { _ = try vault.storage().restore(from: copy) }
    expectRefused(path) { try vault.storage().backup(to: copy, replacing: true) }
  }

  /// SQLite removes what has the name of a journal, and is none.
  @Test(arguments: [StoreAccess.readOnly, .readWrite])
  func aFileOfTheUsersWithTheNameOfAJournalIsLeft(_ access: StoreAccess) throws {
    try make()
    for text in ["my diary, of some length", "diary"] {
      try vault.put(Array(text.utf8), "test.vault-journal")
      try vault.put([], "precious")
      let storage = storage(access)
      expectRefused { _ = try storage.load(String.self, forKey: "key") }
      expectRefused { _ = try storage.verify() }
      #expect(try vault.bytes("test.vault-journal") == Array(text.utf8))
    }
    // What is left of a journal after a power cut.
    for rest in [[], [0], [UInt8](repeating: 0, count: 4096), [0xD9, 0xD5, 0x05]] {
      try vault.put(rest, "test.vault-journal")
      #expect(try storage(access).load(String.self, forKey: "key") == "newest")
      #expect(try storage(access).verify().isSound)
    }
  }

  @Test(arguments: ["-wal", "-shm", "-journal", "-notice"])
  func aVaultGetsNoNameOfAFileBesideAnother(_ suffix: String) throws {
    let place = vault.file("other.vault" + suffix)
    let storage = VaultStorage(at: place, keySource: .key(TemporaryVault.key))
    #expect(code { try storage.save("value", forKey: "key") } == .invalid)
    try make()
    #expect(code { try self.storage().backup(to: place) } == .invalid)
    #expect(code { try storage.restore(from: vault.url) } == .invalid)
    #expect(!FileManager.default.fileExists(atPath: place.path))
  }

  @Test func aJournalThatIsTheVaultItselfIsRefused() throws {
    try make()
    try vault.put(Array("precious".utf8), "precious")
    try FileManager.default.linkItem(atPath: vault.path, toPath: journal)
    expectRefused { _ = try storage().load(String.self, forKey: "key") }
  }
}
