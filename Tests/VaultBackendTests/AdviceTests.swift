import Foundation
import Glibc
import TestSupport
import Testing

@testable import VaultBackend

/// What an error of a vault says to do next.
@Suite struct AdviceTests {
  private let vault = TemporaryVault()

  /// The message of what `body` throws.
  private func message(_ code: StorageError.Code, _ body: () throws -> Void) throws -> String {
    let error = #expect(throws: StorageError.self) { try body() }
    #expect(error?.code == code)
    return try #require(error?.message)
  }

  private func saying(_ path: String) throws -> String {
    try message(.denied) {
      _ = try VaultStorage(
        at: URL(fileURLWithPath: path, isDirectory: false), keySource: .key(TemporaryVault.key),
        access: .readOnly
      ).verify()
    }
  }

  @Test func aFolderThatIsEverybodysIsToBeLeftSo() throws {
    let storage = vault.storage()
    _ = unsafe chmod(vault.folder.path, 0o1777)
    let sticky = try message(.denied) { try storage.save("value", forKey: "key") }
    #expect(sticky.contains("use a folder of your own") && !sticky.contains("chmod"))
    #expect(Machine.share(vault.folder.path, 0o770))
    let open = try message(.denied) { try storage.save("value", forKey: "key") }
    #expect(open.contains("chmod go-w on it"))
  }

  @Test func whatIsNoVaultIsCalledWhatItIs() throws {
    #expect(try saying("/dev/null").contains("a device, not a vault"))
    let folder = vault.file("folder")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    #expect(try saying(folder.path).contains("a folder, not a vault"))
    #expect(unsafe mkfifo(vault.path, 0o600) == 0)
    #expect(try saying(vault.path).contains("move it away"))
  }

  @Test func aLinkToAVaultIsNotToBeMovedAwayOnly() throws {
    try vault.saveAndDie()
    try FileManager.default.createSymbolicLink(
      atPath: vault.file("link").path, withDestinationPath: vault.path)
    #expect(try saying(vault.file("link").path).contains("give the path that the link leads to"))
    // A link beside it was not given by anybody.
    let log = vault.path + "-wal"
    try FileManager.default.moveItem(atPath: log, toPath: log + ".old")
    try FileManager.default.createSymbolicLink(atPath: log, withDestinationPath: log + ".old")
    let beside = try saying(vault.path)
    #expect(beside.contains("move it away") && !beside.contains("give the path"))
  }

  @Test(.enabled(if: Machine.canBecomeAnother, "needs root"))
  func whatBelongsToAnotherUserSaysWhatToDo() throws {
    try vault.storage().save("value", forKey: "key")
    #expect(unsafe chown(vault.path, Machine.otherUser, Machine.otherUser) == 0)
    #expect(try saying(vault.path).contains("run as its owner, or give it to this user"))
    #expect(unsafe chown(vault.folder.path, Machine.otherUser, Machine.otherUser) == 0)
    #expect(try saying(vault.path).contains("use a folder of your own, or run as its owner"))
  }

  /// Whether the write itself notices it, or the look at the file's place before, once a clock
  /// tick.
  @Test(arguments: [0, 50_000] as [UInt32])
  func aVaultThatWasRemovedMeanwhileSaysThatNothingWasSaved(_ pause: UInt32) throws {
    try vault.storage().save("value", forKey: "key")
    let storage = vault.storage()
    #expect(try storage.load(String.self, forKey: "key") == "value")
    try FileManager.default.removeItem(at: vault.url)
    usleep(pause)
    let removed = try message(.unavailable) { try storage.save("newer", forKey: "key") }
    #expect(removed.contains("nothing was saved; restore it from a backup, or save again"))
    // What it says to do next does it.
    try storage.save("newer", forKey: "key")
    #expect(try storage.load(String.self, forKey: "key") == "newer")
  }

  @Test func aBackupThatOnlyItsOwnKeyOpensIsNotSaidToBeWithoutOne() throws {
    let storage = vault.storage()
    try storage.save("value", forKey: "key")
    let copy = vault.file("copy.vault")
    try storage.backup(to: copy)
    try storage.keyAdministration.change(
      to: .passphrase("new", derivation: .scrypt(cost: 16).withoutFloor))
    let words = "opens with the key that was given for it, but not with the vault's own"
    let source = KeySource.key(TemporaryVault.key)
    let refused = try message(.keyUnavailable) {
      try storage.restore(from: copy, keySource: source)
    }
    #expect(refused.contains(words) && !refused.contains("asked:"))
    #expect(try storage.load(String.self, forKey: "key") == "value")
    // What it says to do next does it.
    let owner = vault.storage(source)
    try owner.restore(from: copy)
    #expect(try owner.load(String.self, forKey: "key") == "value")
  }

  @Test func aBrokenFileIsToldOfInOneSentence() throws {
    var storage: VaultStorage? = vault.storage()
    for index in 0..<500 { try storage?.save("value \(index)", forKey: "key \(index)") }
    try storage?.compact()
    storage = nil
    let sound = try vault.bytes()
    var messages: [String] = []
    for page in 1..<8 {
      var bytes = sound
      // Another type of page than it is.
      bytes[page * VaultSchema.pageSize] ^= 8
      try vault.put(bytes)
      messages += try vault.storage().verify().findings.map(\.message)
    }
    #expect(messages.contains { $0.hasPrefix("the file's structure is broken: ") })
    #expect(!messages.contains { $0.contains("***") || $0.contains("\n") }, "\(messages)")
  }
}
