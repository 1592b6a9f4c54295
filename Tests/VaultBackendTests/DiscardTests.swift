import Foundation
import Glibc
import StorageCore
import TestSupport
import Testing
import VaultBackend

/// A vault is discarded whatever its file contains, and whoever has it open.
@Suite struct DiscardTests {
  /// What may be found in the place of a vault.
  enum Content: String, CaseIterable {
    case garbage, empty, cut, newerVersion, otherDatabase, text, strayLog, plantedJournal, readable
  }

  private func make(_ content: Content, _ vault: TemporaryVault) throws {
    if content != .strayLog { try vault.storage().save("old", forKey: "key") }
    let bytes = content == .strayLog ? Data() : try Data(contentsOf: vault.url)
    switch content {
    case .garbage: try Data((0..<9_000).map { UInt8($0 % 251) }).write(to: vault.url)
    case .empty: try Data().write(to: vault.url)
    case .cut: try bytes.prefix(bytes.count / 2 + 100).write(to: vault.url)
    case .newerVersion: try vault.tamper("PRAGMA user_version = 99")
    case .otherDatabase: try vault.tamper("CREATE TABLE mine (a); INSERT INTO mine VALUES (1)")
    case .text: try Data("http.port=80\n".utf8).write(to: vault.url)
    case .strayLog: try Data("a log".utf8).write(to: vault.file("test.vault-wal"))
    case .plantedJournal: try Data("no journal".utf8).write(to: vault.file("test.vault-journal"))
    case .readable: try vault.tamper("UPDATE record SET value = x'00'")
    }
    for name in vault.entries { _ = unsafe chmod(vault.file(name).path, 0o600) }
  }

  @Test(arguments: Content.allCases) func whateverIsThereIsDiscarded(_ content: Content) throws {
    let vault = TemporaryVault()
    try make(content, vault)
    let storage = vault.storage()
    #expect(code { _ = try storage.load(String.self, forKey: "key") } != nil, "it is sound")
    try storage.discard()
    #expect(vault.entries == [])
    #expect(try storage.load(String.self, forKey: "key") == nil)
    try storage.save("new", forKey: "key")
    #expect(try vault.run("load", "key") == "new")
    #expect(try storage.verify(expecting: ["key"]).isSound)
  }

  @Test func nothingIsMadeWhereNothingIs() throws {
    let vault = TemporaryVault()
    let url = vault.file("missing/deep/test.vault")
    try VaultStorage(at: url, keySource: .key(TemporaryVault.key)).discard()
    #expect(vault.entries == [])
  }

  // MARK: - Refusals

  @Test func whatIsNoFileOfThisUserIsRefused() throws {
    let vault = TemporaryVault()
    let kept = vault.file("kept")
    try Data("precious".utf8).write(to: kept)
    func refuse(_ name: String, _ expected: StorageError.Code) {
      let storage = vault.storage(named: name)
      #expect(code { try storage.discard() } == expected, "\(name)")
    }
    try FileManager.default.createSymbolicLink(
      at: vault.file("link.vault"), withDestinationURL: kept)
    refuse("link.vault", .denied)
    try FileManager.default.createDirectory(
      at: vault.file("folder.vault"), withIntermediateDirectories: false)
    refuse("folder.vault", .denied)
    #expect(unsafe mkfifo(vault.file("pipe.vault").path, 0o600) == 0)
    refuse("pipe.vault", .denied)
    try Data("log".utf8).write(to: vault.file("other.vault-wal"))
    refuse("other.vault-wal", .invalid)
    try FileManager.default.createSymbolicLink(
      at: vault.file("a.vault-notice"), withDestinationURL: kept)
    try Data("garbage".utf8).write(to: vault.file("a.vault"))
    refuse("a.vault", .denied)
    #expect(try Data(contentsOf: kept) == Data("precious".utf8))
    #expect(vault.entries.count == 7)
    if geteuid() == 0 {
      try Data("garbage".utf8).write(to: vault.file("theirs.vault"))
      #expect(unsafe chown(vault.file("theirs.vault").path, 65_534, 65_534) == 0)
      refuse("theirs.vault", .denied)
      #expect(vault.entries.contains("theirs.vault"))
    }
  }

  @Test func whoMayOnlyReadDiscardsAndChangesNothing() throws {
    let vault = TemporaryVault()
    try vault.storage().save("old", forKey: "key")
    let reader = vault.storage(access: .readOnly)
    #expect(code { try reader.discard() } == .readOnly)
    #expect(code { try reader.save("mine", forKey: "key") } == .readOnly)
    #expect(code { _ = try reader.keyAdministration.rotate() } == .readOnly)
    #expect(code { try reader.compact() } == .readOnly)
    let copy = vault.file("copy.vault")
    try reader.backup(to: copy)
    #expect(code { try reader.restore(from: copy) } == .readOnly)
    let report = try reader.verify()
    #expect(code { try reader.repair(accepting: report) } == .readOnly)
    let missing = vault.storage(named: "missing.vault", access: .readOnly)
    #expect(code { try missing.restore(from: copy) } == .readOnly)
    #expect(!vault.entries.contains("missing.vault"))
    #expect(try vault.storage().load(String.self, forKey: "key") == "old")
  }

  // MARK: - Other processes

  @Test func otherProcessesFindItEmptyAndWriteToTheNewOne() throws {
    let vault = TemporaryVault()
    let storage = vault.storage()
    try storage.save("old", forKey: "key")
    let child = try vault.serve()
    #expect(try child.ask("load key") == "old")
    // Whoever has lost the key empties it in its place.
    let other = vault.storage(.key(SymmetricKey(size: .bits256)))
    try other.discard()
    #expect(try child.ask("load key") == "nil")
    #expect(try child.ask("save key new") == "saved")
    #expect(try storage.load(String.self, forKey: "key") == "new")
    #expect(try child.ask("discard") == "discarded")
    #expect(try storage.load(String.self, forKey: "key") == nil)
    try storage.save("newer", forKey: "key")
    #expect(try child.ask("load key") == "newer")
    // What was removed is not left in the file or its log.
    #expect(try storage.verify(expecting: ["key"]).isSound)
  }

  @Test func aBrokenVaultThatAnotherProcessHasOpenIsBusy() throws {
    let vault = TemporaryVault()
    try vault.storage().save("old", forKey: "key")
    let child = try vault.serve()
    #expect(try child.ask("load key") == "old")
    try vault.tamper("PRAGMA user_version = 99")
    let storage = vault.storage(deadline: .milliseconds(200))
    #expect(code { try storage.discard() } == .busy)
    child.kill()
    _ = try child.lines()
    try storage.discard()
    try storage.save("new", forKey: "key")
  }

  // MARK: - Keys

  @Test func aLostKeyFileIsMadeAnewForTheLastStoreThatNeededIt() throws {
    let vault = TemporaryVault()
    let key = vault.file("k/master.key")
    func storage(_ name: String) -> VaultStorage {
      VaultStorage(at: vault.file(name), keySource: .file(key))
    }
    try storage("a.vault").save("a", forKey: "key")
    try storage("b.vault").save("b", forKey: "key")
    try FileManager.default.removeItem(at: key)
    let a = storage("a.vault")
    try a.discard()
    let error = #expect(throws: StorageError.self) { try a.save("new", forKey: "key") }
    #expect(error?.code == .keyUnavailable)
    #expect(error?.message.contains("discard()") == true)
    #expect(!FileManager.default.fileExists(atPath: key.path))
    let b = storage("b.vault")
    #expect(code { _ = try b.load(String.self, forKey: "key") } == .keyUnavailable)
    try b.discard()
    try a.save("new", forKey: "key")
    try b.save("newer", forKey: "key")
    #expect(try storage("a.vault").load(String.self, forKey: "key") == "new")
  }

  @Test func aKeyThatIsThereStaysAndOpensTheOthers() throws {
    let vault = TemporaryVault()
    let key = vault.file("k/master.key")
    let other = VaultStorage(at: vault.file("b.vault"), keySource: .file(key))
    try other.save("b", forKey: "key")
    let storage = vault.storage(.file(key))
    try storage.save("a", forKey: "key")
    let bytes = try Data(contentsOf: key)
    try storage.discard()
    try storage.save("new", forKey: "key")
    #expect(try Data(contentsOf: key) == bytes)
    #expect(try other.load(String.self, forKey: "key") == "b")
    #expect(FileManager.default.fileExists(atPath: key.path + ".made"))
  }
}

/// A process is killed before each of the calls with which it discards a vault whose key is lost.
@Suite(.enabled(if: Machine.hasStrace, "needs strace and the right to trace"))
struct DiscardKillTests {
  /// A vault and its key file, in a folder of their own.
  private struct Place {
    let folder: URL
    var vault: URL { folder.appendingPathComponent("test.vault") }
    var key: URL { folder.appendingPathComponent("key") }
    var storage: VaultStorage { VaultStorage(at: vault, keySource: .file(key)) }
  }

  /// Whether somebody else has the vault open.
  @Test(arguments: [false, true]) func itIsTheOldVaultOrAnEmptyOne(_ isOpen: Bool) throws {
    let root = TemporaryVault()
    let fault = SystemFault.kill(
      before: "write,pwrite64,fsync,fdatasync,ftruncate,link,linkat,unlink,unlinkat,rename,renameat"
    )
    var found: [String?: Int] = [:]
    var place = Place(folder: root.folder)
    var key = Data()
    try fault.each { prefix in
      place = Place(folder: root.file(UUID().uuidString))
      try FileManager.default.createDirectory(
        at: place.folder, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      var holder: VaultStorage? = place.storage
      try holder?.save("old", forKey: "key")
      key = try Data(contentsOf: place.key)
      if !isOpen { holder = nil }
      try FileManager.default.removeItem(at: place.key)
      defer { withExtendedLifetime(holder) {} }
      return try helper.run("discard-lost", place.vault.path, place.key.path, prefix: prefix)
    } check: { run in
      // Empty, or as it was, if the key comes back.
      try key.write(to: place.key)
      _ = unsafe chmod(place.key.path, 0o600)
      found[try place.storage.load(String.self, forKey: "key"), default: 0] += 1
      try FileManager.default.removeItem(at: place.key)
      // Once more, to the end.
      let last = place.storage
      try last.discard()
      try last.save("new", forKey: "key")
      #expect(try place.storage.load(String.self, forKey: "key") == "new", "\(run)")
    }
    #expect(found.count == 2 && found["old"] ?? 0 > 0 && found[nil] ?? 0 > 0, "\(found)")
  }
}
