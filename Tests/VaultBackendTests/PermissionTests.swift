import Foundation
import TestSupport
import Testing
import VaultBackend

/// Who may have put a file there, and who may look at it.
@Suite struct PermissionTests {
  private let vault = TemporaryVault()

  private func mode(_ name: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: vault.file(name).path)
    return try #require(attributes[.posixPermissions] as? Int)
  }

  private func loads(_ access: StoreAccess = .readWrite) -> StorageError.Code? {
    code {
      let value = try vault.storage(access: access).load(String.self, forKey: "key")
      #expect(value == "newest")
    }
  }

  @Test func allFilesAreForTheOwnerAlone() throws {
    let mask = umask(0)
    defer { umask(mask) }
    let storage = vault.storage()
    try storage.save("value", forKey: "key")
    try storage.backup(to: vault.file("copy.vault"))
    #expect(vault.entries.count == 5)
    for name in vault.entries { #expect(try mode(name) == 0o600, "\(name)") }
    let made = vault.storage(named: "made/now/deep.vault")
    try made.save("value", forKey: "key")
    #expect(try mode("made") == 0o700 && mode("made/now") == 0o700)
  }

  @Test(arguments: ["", "-wal", "-shm", "-notice"])
  func aFileThatOthersCanReadIsTakenFromTheirEyes(_ suffix: String) throws {
    try vault.saveAndDie()
    _ = unsafe chmod(vault.path + suffix, 0o644)
    #expect(loads(.readOnly) == nil)
    #expect(try mode("test.vault" + suffix) == 0o644, "reading alone changes nothing")
    let storage = vault.storage()
    #expect(try storage.load(String.self, forKey: "key") == "newest")
    for name in vault.entries { #expect(try mode(name) == 0o600, "\(name)") }
  }

  @Test(arguments: ["", "-wal", "-shm", "-notice", "-journal"], [0o602, 0o620])
  func aFileThatOthersCanWriteToIsRefused(_ suffix: String, _ mode: Int) throws {
    try vault.saveAndDie()
    if suffix == "-journal" { try vault.put([1, 2, 3], "test.vault-journal") }
    _ = unsafe chmod(vault.path + suffix, mode_t(mode))
    #expect(loads() == .denied)
    #expect(loads(.readOnly) == .denied)
    _ = unsafe chmod(vault.path + suffix, 0o600)
    if suffix == "-journal" { try FileManager.default.removeItem(atPath: vault.path + suffix) }
    #expect(loads() == nil)
  }

  @Test(arguments: ["", "-wal", "-shm", "-notice", "-journal"])
  func aLinkInThePlaceOfAFileIsNotFollowed(_ suffix: String) throws {
    try vault.saveAndDie()
    let path = vault.path + suffix
    let elsewhere = vault.folder.path + "/elsewhere"
    if suffix == "-journal" { try vault.put([], "test.vault-journal") }
    try FileManager.default.moveItem(atPath: path, toPath: elsewhere)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: elsewhere)
    let before = try vault.bytes("elsewhere")
    #expect(loads() == .denied)
    #expect(loads(.readOnly) == .denied)
    #expect(code { try vault.storage().save("value", forKey: "key") } == .denied)
    #expect(try vault.bytes("elsewhere") == before)
    // One that leads nowhere is a link too.
    try FileManager.default.removeItem(atPath: elsewhere)
    #expect(code { try vault.storage().save("value", forKey: "key") } == .denied)
    #expect(!FileManager.default.fileExists(atPath: elsewhere))
  }

  @Test func aFolderMayBeReachedThroughLinksAndIsOneVault() throws {
    let link = vault.folder.path + "/link"
    try FileManager.default.createDirectory(
      at: vault.file("real"), withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700])
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "real")
    let (one, other) = (
      vault.storage(named: "link/a.vault"),
      vault.storage(named: "real/a.vault")
    )
    try one.save("value", forKey: "key")
    #expect(try other.load(String.self, forKey: "key") == "value")
    // Where it led at the first use counts: whoever turns it elsewhere moves no vault.
    try FileManager.default.removeItem(atPath: link)
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/nowhere")
    #expect(try one.load(String.self, forKey: "key") == "value")
  }

  private func makeFolder(_ name: String, _ mode: Int = 0o700) throws {
    try FileManager.default.createDirectory(
      at: vault.file(name), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    _ = unsafe chmod(vault.file(name).path, mode_t(mode))
  }

  private func link(_ name: String, to destination: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: vault.file(name).path, withDestinationPath: destination)
  }

  private func save(at name: String) -> StorageError.Code? {
    code {
      try vault.storage(named: name)
        .save("value", forKey: "key")
    }
  }

  @Test func aLinkHigherUpOnTheWayIsFollowedAndWhereItLeadsIsChecked() throws {
    try makeFolder("real/deep/inner")
    try link("up", to: "real")
    try link("real/deep/again", to: vault.file("up/deep").path)
    #expect(save(at: "up/deep/inner/a.vault") == nil)
    #expect(save(at: "up/deep/again/inner/../inner/b.vault") == nil)
    // Folders that are made behind it too.
    #expect(save(at: "up/new/newer/c.vault") == nil)
    for name in ["real/deep/inner/a.vault", "real/deep/inner/b.vault", "real/new/newer/c.vault"] {
      let storage = vault.storage(named: name)
      #expect(try storage.load(String.self, forKey: "key") == "value")
    }
    // Where it leads counts, not where it is.
    _ = unsafe chmod(vault.file("real").path, 0o711)
    _ = unsafe chmod(vault.file("real/deep").path, 0o777)
    #expect(save(at: "up/deep/inner/d.vault") == .denied)
    #expect(!FileManager.default.fileExists(atPath: vault.file("real/deep/inner/d.vault").path))
    try link("loop", to: "loop/more")
    #expect(save(at: "loop/more/e.vault") == .denied)
    // Each of which is looked at twice as often as the one before.
    try link("twice", to: "twice/twice")
    #expect(save(at: "twice/e.vault") == .denied)
  }

  @Test(arguments: ["open/link/inner", "first/inner", "second/inner"])
  func aLinkThatOthersCouldHavePutThereIsRefused(_ way: String) throws {
    try makeFolder("real/inner")
    try makeFolder("open", 0o777)
    try link("open/link", to: vault.file("real").path)
    // Links to a link in that folder, straight and on the way.
    try link("first", to: "open/link")
    try link("second", to: "first")
    #expect(save(at: way + "/a.vault") == .denied)
    #expect(save(at: way + "/new/a.vault") == .denied)
    // Where only its owner can change a link it is somebody's own.
    _ = unsafe chmod(vault.file("open").path, 0o1777)
    #expect(save(at: way + "/a.vault") == nil)
  }

  @Test func aFolderThatHasBecomeALinkIsRefused() throws {
    try makeFolder("mine")
    let storage = vault.storage(named: "later/a.vault")
    #expect(try storage.load(String.self, forKey: "key") == nil)
    try link("later", to: vault.file("mine").path)
    #expect(code { try storage.save("value", forKey: "key") } == .denied)
    #expect(code { _ = try storage.load(String.self, forKey: "key") } == .denied)
    let entries = try FileManager.default.contentsOfDirectory(atPath: vault.file("mine").path)
    #expect(entries.isEmpty)
  }

  @Test(.enabled(if: Machine.canBecomeAnother, "needs root"))
  func aLinkOfAnotherUserIsRefused() throws {
    try makeFolder("real")
    try makeFolder("sticky", 0o1777)
    try link("sticky/link", to: vault.file("real").path)
    #expect(save(at: "sticky/link/a.vault") == nil)
    #expect(
      unsafe lchown(vault.file("sticky/link").path, Machine.otherUser, Machine.otherUser) == 0)
    #expect(save(at: "sticky/link/a.vault") == .denied)
  }

  @Test(arguments: [0o770, 0o707, 0o1777])
  func aFolderThatOthersCanWriteToIsRefused(_ mode: Int) throws {
    try vault.saveAndDie()
    #expect(Machine.share(vault.folder.path, mode))
    #expect(loads() == .denied)
    #expect(loads(.readOnly) == .denied)
    #expect(code { try vault.storage().save("value", forKey: "key") } == .denied)
    let new = vault.storage(named: "new.vault")
    #expect(code { try new.save("value", forKey: "key") } == .denied)
    #expect(!vault.entries.contains("new.vault"))
    _ = unsafe chmod(vault.folder.path, 0o755)
    #expect(loads() == nil)
  }

  @Test func aFolderOnTheWayThatOthersCanWriteToIsRefusedUnlessItIsSticky() throws {
    let inner = vault.file("way/inner")
    try FileManager.default.createDirectory(
      at: inner, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let url = inner.appendingPathComponent("a.vault")
    let way = vault.file("way").path
    for (mode, expected) in [(0o777, StorageError.Code.denied), (0o1777, nil), (0o755, nil)] {
      _ = unsafe chmod(way, mode_t(mode))
      let storage = VaultStorage(at: url, keySource: .key(TemporaryVault.key))
      #expect(code { try storage.save("value", forKey: "key") } == expected, "\(mode)")
    }
  }

  @Test func aFolderBelowOneThatNobodyElseCanEnterIsTakenAndWhereALinkLeadsIsNot() throws {
    try makeFolder("home/open/inner")
    try makeFolder("open/inner")
    for name in ["home/open", "open"] { _ = unsafe chmod(vault.file(name).path, 0o777) }
    #expect(save(at: "home/open/a.vault") == nil)
    #expect(save(at: "home/open/inner/a.vault") == nil)
    #expect(save(at: "home/open/new/a.vault") == nil)
    try link("home/inside", to: vault.file("home/open").path)
    #expect(save(at: "home/inside/b.vault") == nil)
    // Out of it, straight and by way of the folder above.
    try link("home/outside", to: vault.file("open").path)
    try link("home/above", to: "../open")
    for way in ["outside", "outside/inner", "above", "above/inner"] {
      #expect(save(at: "home/\(way)/a.vault") == .denied, "\(way)")
    }
    _ = unsafe chmod(vault.file("home").path, 0o701)
    #expect(save(at: "home/open/a.vault") == .denied)
    #expect(save(at: "home/inside/b.vault") == .denied)
  }

  @Test(.enabled(if: Machine.canBecomeAnother, "needs root"))
  func whatBelongsToAnotherUserIsRefused() throws {
    try vault.saveAndDie()
    let other = Machine.otherUser
    for path in ["", "-wal", "-shm", "-notice"].map({ vault.path + $0 }) + [vault.folder.path] {
      #expect(unsafe chown(path, other, other) == 0)
      #expect(loads() == .denied, "\(path)")
      #expect(loads(.readOnly) == .denied, "\(path)")
      #expect(code { try vault.storage().save("value", forKey: "key") } == .denied, "\(path)")
      #expect(unsafe chown(path, 0, 0) == 0)
    }
    #expect(loads() == nil)
  }
}
