import Foundation
import TestSupport
import Testing
import VaultBackend

/// A vault that a program says has to be there is never made anew.
@Suite struct MustExistTests {
  private let vault = TemporaryVault()
  private var place: URL { vault.file("disk/app/test.vault") }

  private func storage(_ source: KeySource = .key(TemporaryVault.key)) -> VaultStorage {
    VaultStorage(at: place, keySource: source)
  }

  /// A vault on the disk, of another process, whose storages may make one.
  private func make() throws {
    let said = try helper.start(["save", place.path, "key", "value"], prefix: []).lines()
    #expect(said == ["saved"])
  }

  private func move(_ name: String, to other: String) throws {
    try FileManager.default.moveItem(at: vault.file(name), to: vault.file(other))
  }

  /// The file alone; that its whole folder vanishes, `StorePromise` tries.
  @Test func oneThatVanishesWhileAProgramRunsIsNotMadeAnew() throws {
    try make()
    let (storage, other) = (storage(), storage())
    try storage.open(.mustExist)
    let gone = "disk/app/test.vault"
    try move(gone, to: "away")
    for name in ["-wal", "-shm", "-notice"] {
      try? FileManager.default.removeItem(atPath: place.path + name)
    }
    // Another storage of the program does not know of it, and makes none either.
    for each in [storage, other] {
      #expect(code { try each.save("lost", forKey: "key") } == .unavailable)
    }
    #expect(code { _ = try storage.load(String.self, forKey: "key") } == .unavailable)
    #expect(!FileManager.default.fileExists(atPath: place.path))
    // When the disk is back, so is the vault.
    try move("away", to: gone)
    #expect(try storage.load(String.self, forKey: "key") == "value")
    try storage.save("newer", forKey: "key")
    #expect(try other.load(String.self, forKey: "key") == "newer")
  }

  @Test func oneWithoutKeysIsNoStoreYet() throws {
    try FileManager.default.createDirectory(
      at: vault.file("disk/app"), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    // A process that was killed between the two steps of making one.
    let said = try helper.start(["make-empty", place.path], prefix: []).lines()
    #expect(said == ["made"])
    let before = try Data(contentsOf: place)
    let storage = storage()
    #expect(code { try storage.open(.mustExist) } == .unavailable)
    #expect(code { try storage.save("value", forKey: "key") } == .unavailable)
    #expect(try Data(contentsOf: place) == before)
  }

  @Test func aRestorationPutsOneWhereThereHasToBeOne() throws {
    try make()
    let storage = storage()
    try storage.open(.mustExist)
    try storage.backup(to: vault.file("copy.vault"))
    try FileManager.default.removeItem(at: vault.file("disk"))
    #expect(code { try storage.save("lost", forKey: "key") } == .unavailable)
    try storage.restore(from: vault.file("copy.vault"))
    #expect(try storage.load(String.self, forKey: "key") == "value")
  }

  @Test(arguments: [StoreAccess.readOnly, .mustExist, .readWrite])
  func aStorageOfNothingMakesNoKeyEither(_ access: StoreAccess) throws {
    let storage = VaultStorage(
      at: place, keySource: .file(vault.file("keys/a.key")), access: access)
    let existence: StoreExistence = access == .readWrite ? .mustExist : .madeIfMissing
    #expect(code { try storage.open(existence) } == .unavailable)
    #expect(code { try storage.save("value", forKey: "key") } == .unavailable)
    if access == .readOnly { #expect(try storage.load(String.self, forKey: "key") == nil) }
    #expect(vault.entries.isEmpty, "not a folder, and no key either")
  }
}
