import Foundation
import TestSupport
import Testing

@testable import VaultBackend

/// A file over which its writer died while it took up a log: beside it lies a rollback journal.
@Suite(.enabled(if: Machine.hasStrace, "needs strace and the right to trace"))
struct UnfinishedFileTests {
  private let vault = TemporaryVault()
  private var copy: URL { vault.file("copy.vault") }

  private func makeCopy() throws {
    let storage = vault.storage()
    for index in 0..<100 { try storage.save("value \(index)", forKey: "key \(index)") }
    try storage.backup(to: copy)
  }

  /// Makes such a file of a backup.
  private func leaveUnfinished() throws {
    try makeCopy()
    try killWriter(before: "unlink", 1)
  }

  /// Starts a writer that dies at the call of that number.
  private func killWriter(before call: String, _ number: Int) throws {
    let prefix = SystemFault.kill(before: call).prefix(at: number)
    _ = try helper.run("save", copy.path, "key 0", "newer", prefix: prefix)
    try #require(vault.entries.contains("copy.vault-journal"))
  }

  private func open(_ access: StoreAccess = .readWrite) -> VaultStorage {
    VaultStorage(at: copy, keySource: .key(TemporaryVault.key), access: access)
  }

  @Test(arguments: [StoreAccess.readOnly, .readWrite])
  func itIsReadAsBefore(_ access: StoreAccess) throws {
    try leaveUnfinished()
    #expect(try open(access).load(String.self, forKey: "key 1") == "value 1")
    #expect(!vault.entries.contains("copy.vault-journal"))
    #expect(try open().verify().isSound)
  }

  /// The writer is killed before the file itself was written to.
  @Test func whoHasItOpenForReadingReadsOn() throws {
    try makeCopy()
    let reader = open(.readOnly)
    #expect(try reader.load(String.self, forKey: "key 1") == "value 1")
    let before = try Data(contentsOf: copy)
    try killWriter(before: "fdatasync", 3)
    try #require(try Data(contentsOf: copy) == before)
    #expect(try reader.load(String.self, forKey: "key 2") == "value 2")
    #expect(try reader.keys().count == 100)
    #expect(try reader.verify().isSound)
  }

  /// As a power cut leaves it that comes between two sectors of a page.
  @Test(arguments: [false, true])
  func whereNothingCanBeWrittenThatIsSaidAndNothingChanges(hasLog: Bool) throws {
    try leaveUnfinished()
    let folder = vault.file("medium")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    var bytes = try Data(contentsOf: copy)
    bytes.replaceSubrange(512..<2048, with: Data(repeating: 0x55, count: 2048 - 512))
    try vault.put([UInt8](bytes), "medium/copy.vault")
    try FileManager.default.moveItem(
      atPath: copy.path + "-journal", toPath: folder.path + "/copy.vault-journal")
    // Of a writer that the journal is older than: what it holds is no commit.
    if hasLog { try vault.put(Array(repeating: 0, count: 32), "medium/copy.vault-wal") }
    let entries = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder.path)
    let command = ["load-read-only", folder.path + "/copy.vault", "key 1"]
    let said = try helper.start(command, prefix: Machine.withoutCapabilities).lines()
    #expect(said == ["error readOnly"])
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == entries)
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
  }

  @Test func itsJournalIsNotPlayedIntoAnotherFile() throws {
    try leaveUnfinished()
    try FileManager.default.removeItem(at: copy)
    let storage = vault.storage()
    let attempts: [(VaultStorage) throws -> Void] = [
      { _ in try storage.backup(to: copy) }, { _ in try storage.backup(to: copy, replacing: true) },
      { try $0.restore(from: vault.url) }, { try $0.save("new", forKey: "key 0") },
      { _ = try $0.load(String.self, forKey: "key 0") },
    ]
    for attempt in attempts {
      let failure = #expect(throws: StorageError.self) { try attempt(open()) }
      #expect(failure?.code == .damaged && failure?.path == copy.path + "-journal")
    }
    #expect(!vault.entries.contains("copy.vault"))
    try FileManager.default.removeItem(atPath: copy.path + "-journal")
    try storage.backup(to: copy)
    #expect(try open().load(String.self, forKey: "key 99") == "value 99")
  }

  @Test func aFileThatTakesItsPlaceIsNotRolledBack() throws {
    try leaveUnfinished()
    try vault.put(Array(repeating: 0x55, count: 8192), "copy.vault")
    let restored = try open().restore(from: vault.url)
    #expect(restored.oldFile == copy.path + ".damaged-1")
    #expect(!vault.entries.contains("copy.vault-journal"))
    #expect(try open().load(String.self, forKey: "key 99") == "value 99")
    try open().save("newer", forKey: "key 0")
    #expect(try open().verify().isSound)
    #expect(try open().keys().count == 100)
  }
}
