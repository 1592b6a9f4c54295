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

  @Test func oneThatIsNotThereIsNotMade() throws {
    let storage = storage(.file(vault.file("keys/a.key")))
    for _ in 0..<2 { #expect(code { try storage.open(.mustExist) } == .unavailable) }
    #expect(code { _ = try storage.load(String.self, forKey: "key") } == .unavailable)
    #expect(code { try storage.save("value", forKey: "key") } == .unavailable)
    #expect(code { _ = try storage.saveIfAbsent("value", forKey: "key") } == .unavailable)
    #expect(code { _ = try storage.keys() } == .unavailable)
    #expect(code { try storage.transaction { try $0.save("v", forKey: "key") } } == .unavailable)
    #expect(code { try storage.open() } == .unavailable)
    #expect(vault.entries.isEmpty, "not a folder, and no key either")
  }

  @Test func whyItCanNotBeOpenedIsToldAsEver() throws {
    try make()
    #expect(code { try storage(TemporaryVault.source(8)).open(.mustExist) } == .wrongKey)
    try Data(repeating: 0x55, count: 5000).write(to: place)
    #expect(code { try storage().open(.mustExist) } == .damaged)
  }

  @Test(arguments: [true, false])
  func oneThatVanishesWhileAProgramRunsIsNotMadeAnew(_ isFolderGone: Bool) throws {
    try make()
    let (storage, other) = (storage(), storage())
    try storage.open(.mustExist)
    let live = Live(wrappedValue: "default", storage, "key")
    #expect(live.wrappedValue == "value")
    let gone = isFolderGone ? "disk" : "disk/app/test.vault"
    try move(gone, to: "away")
    if !isFolderGone {
      for name in ["-wal", "-shm", "-notice"] {
        try? FileManager.default.removeItem(atPath: place.path + name)
      }
    }
    #expect(code { try storage.save("lost", forKey: "key") } == .unavailable)
    // Another storage of the program does not know of it, and makes none either.
    #expect(code { try other.save("lost", forKey: "key") } == .unavailable)
    #expect(code { _ = try storage.load(String.self, forKey: "key") } == .unavailable)
    #expect(code { try live.projectedValue.save("lost") } == .unavailable)
    #expect(!FileManager.default.fileExists(atPath: place.path))
    #expect(FileManager.default.fileExists(atPath: vault.file("disk").path) != isFolderGone)
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

  @Test func aReadOnlyStorageOfNothingMakesNoKeyEither() throws {
    let storage = VaultStorage(
      at: place, keySource: .file(vault.file("keys/a.key")), access: .readOnly)
    #expect(code { try storage.open() } == .unavailable)
    #expect(code { try storage.save("value", forKey: "key") } == .unavailable)
    #expect(try storage.load(String.self, forKey: "key") == nil)
    #expect(vault.entries.isEmpty)
  }
}
