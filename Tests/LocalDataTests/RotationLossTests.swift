import Foundation
import LocalData
import TestSupport
import Testing

/// A rotation loses no value: it refuses before it changes anything, or it stays unfinished.
@Suite struct RotationLossTests {
  private typealias Application = RotatedApplication
  private let application = RotatedApplication()
  private var folder: TestFolder { application.folder }
  private let files = FileManager.default

  private func custom(_ name: String) -> URL {
    folder.url.appendingPathComponent(name, isDirectory: true)
  }

  private func elsewhere(in folder: URL) -> StoredKey<String> {
    key("elsewhere", .fileSystem(directory: .custom(folder)))
  }

  /// That a rotation is refused, and that the old key alone still reads every value.
  private func requireRefusal(
    _ code: StorageError.Code, _ owner: StorageRouter, naming name: String
  ) async throws {
    let before = stored()
    do throws(StorageError) {
      let report = try await owner.rotate(openedBy: Application.new)
      Issue.record("\(report)")
    } catch {
      #expect(error.code == code, "\(error)")
      #expect(error.message.contains(name), "\(error)")
    }
    #expect(stored() == before)
  }

  /// The files, without those that a vault has while it is open.
  private func stored() -> [String] {
    folder.files().filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
  }

  // MARK: - Out of sight

  @Test func valuesOnADiskThatIsNotMountedAreNotLost() async throws {
    let old = application.router(Application.old)
    try await application.fill("before", old)
    let disk = custom("disk")
    let keys = [
      key("file", .fileSystem(directory: .custom(disk))),
      key("sealedFile", .encryptedFileSystem(directory: .custom(disk))),
    ]
    for key in keys { try await old.set("before", for: key) }
    let away = TestFolder()
    try files.moveItem(atPath: disk.path, toPath: away.path + "/disk")
    try await requireRefusal(.unavailable, old, naming: "file")
    try files.createDirectory(at: disk, withIntermediateDirectories: false)
    try await requireRefusal(.unavailable, old, naming: "file")
    try await application.requireValues("before", application.router(Application.old))
    try files.removeItem(at: disk)
    try files.moveItem(atPath: away.path + "/disk", toPath: disk.path)
    #expect(try await old.rotate(openedBy: Application.new).isComplete)
    for key in keys {
      #expect(try await application.router(Application.new).get(key) == "before")
    }
  }

  @Test func whatIsAbandonedIsNamed() async throws {
    let old = application.router(Application.old)
    try await application.fill("before", old)
    try files.removeItem(at: custom("custom"))
    let report = try await old.rotate(openedBy: Application.new, abandoningMissing: true)
    #expect(report.abandoned.map(\.error.code) == [.unavailable] && report.isComplete)
    #expect(report.abandoned.first?.name.contains("elsewhere") == true, "\(report)")
    for (key, _) in application.keys where key.name != "elsewhere" {
      #expect(try await application.router(Application.new).get(key) == "before")
    }
  }

  @Test func aHomeThatWasMovedIsSealedAgainAtItsPresentPlace() async throws {
    try await application.fill("before", application.router(Application.old))
    let home = TestFolder()
    try application.copy("", from: folder, to: home)
    try files.removeItem(at: folder.url)
    func router(_ source: KeySource) -> StorageRouter {
      StorageRouter(
        applicationID: "com.example.app", keySource: source, folder: home.url,
        configuration: StorageConfiguration(keychain: .vault))
    }
    let moved = home.url.appendingPathComponent("custom", isDirectory: true)
    let owner = router(Application.old)
    #expect(await code { _ = try await owner.rotate(openedBy: Application.new) } == .unavailable)
    try await owner.adoptFolder(at: moved)
    let report = try await owner.rotate(openedBy: Application.new)
    #expect(report.isComplete, "\(report)")
    for (key, _) in application.keys {
      let key = key.name == "elsewhere" ? elsewhere(in: moved) : key
      #expect(try await router(Application.new).get(key) == "before", "\(key.domain)")
    }
  }

  @Test(arguments: [false, true])
  func anAdoptedFolderIsSealedAgain(_ hasLink: Bool) async throws {
    let owner = application.router(Application.old)
    try await application.fill("before", owner)
    try files.moveItem(at: custom("custom"), to: custom("moved"))
    if hasLink {
      try files.createSymbolicLink(at: custom("custom"), withDestinationURL: custom("moved"))
    }
    try await owner.adoptFolder(at: custom("moved"))
    let report = try await owner.rotate(openedBy: Application.new)
    #expect(report.isComplete, "\(report)")
    let new = application.router(Application.new)
    #expect(try await new.get(elsewhere(in: custom("moved"))) == "before")
  }

  @Test func aFolderWithTheIDOfAnotherIsRefusedBeforeAnythingChanges() async throws {
    try await application.fill("before", application.router(Application.old))
    try files.copyItem(at: custom("custom"), to: custom("declared"))
    struct Keys { let key: StoredKey<String> }
    let owner = application.router(Application.old)
    try owner.registerKeys(Keys(key: elsewhere(in: custom("declared"))))
    try await requireRefusal(.configurationConflict, owner, naming: "elsewhere")
    try await application.requireValues("before", application.router(Application.old))
  }

  @Test func aLostLedgerIsRefused() async throws {
    try await application.fill("before", application.router(Application.old))
    application.remove(Application.ledger)
    try await requireRefusal(
      .unavailable, application.router(Application.old), naming: "localdata.vault")
    try await application.requireValues("before", application.router(Application.old))
  }

  @Test func aValueThatCannotBeReadForAMomentIsNotLost() async throws {
    let owner = application.router(Application.old)
    try await application.fill("before", owner)
    let file = folder.path + "/custom/elsewhere"
    try files.moveItem(atPath: file, toPath: file + ".away")
    try files.createSymbolicLink(atPath: file, withDestinationPath: file + ".away")
    do throws(StorageError) {
      _ = try await owner.rotate(openedBy: Application.new)
      Issue.record("a link was taken for a value")
    } catch {
      #expect(error.code == .denied)
    }
    try files.removeItem(atPath: file)
    try files.moveItem(atPath: file + ".away", toPath: file)
    #expect(try await owner.rotate(openedBy: Application.new).isComplete)
    try await application.requireValues("before", application.router(Application.new))
  }

  // MARK: - Unfinished

  @Test func aRotationThatLeftAValueStaysUnfinishedUntilTheValueIsBack() async throws {
    let owner = application.router(Application.old)
    try await application.fill("before", owner)
    let document = folder.url.appendingPathComponent("data/com.example.app/Documents/document")
    let whole = try Data(contentsOf: document)
    var bytes = whole
    bytes[bytes.count - 1] ^= 1
    let damaged = bytes
    // Damaged after it was listed.
    let report = try await owner.runRotation(openedBy: Application.new) { step in
      if step == .replacedKey, (try? Data(contentsOf: document)) == whole {
        try? damaged.write(to: document)
      }
    }
    #expect(report.left.map(\.name) == ["fileSystem(documents)/document"], "\(report)")
    let again = try await application.router(Application.new).rotate(openedBy: Application.new)
    #expect(again.left.map(\.name) == ["fileSystem(documents)/document"], "\(again)")
    try whole.write(to: document)
    #expect(try await application.router(Application.new).get(application.keys[4].key) == "before")
    let last = try await application.router(Application.new).rotate(openedBy: Application.new)
    #expect(last.isComplete && last.resealed == 1, "\(last)")
    try await application.requireValues("before", application.router(Application.new))
  }

  @Test func anInterruptedRotationIsContinuedWithTheSameKeyAlone() async throws {
    try await application.fill("before", application.router(Application.old))
    let child = HelperProgram("LocalDataTestChild")
    for step in [1, 3, 12] {
      _ = try child.run("rotate", folder.path, "\(step)", "")
      let owner = application.router(Application.new, Application.old)
      let third = KeySource.key(SymmetricKey(data: Data(repeating: 7, count: 32)))
      #expect(await code { _ = try await owner.rotate() } == .invalid)
      guard step > 1 else { continue }
      #expect(await code { _ = try await owner.rotate(openedBy: third) } == .invalid)
    }
    #expect(try child.run("rotate", folder.path, "0", "").count == 1)
    try await application.requireValues("before", application.router(Application.new))
  }

  // MARK: - Groups

  private func shared() throws -> URL {
    let shared = custom("team")
    try files.createDirectory(at: shared, withIntermediateDirectories: true)
    #expect(unsafe chmod(shared.path, 0o700) == 0)
    return shared
  }

  private func router(_ id: String, _ folders: [String: URL]) -> StorageRouter {
    StorageRouter(
      applicationID: id, keySource: .firstAvailable([Application.new, Application.old]),
      folder: folder.url,
      configuration: StorageConfiguration(keychain: .vault, groupFolders: folders))
  }

  private func inGroup(_ id: String, _ name: String) -> StoredKey<String> {
    key(name, .appGroupFileSystem(id: id, directory: .documents))
  }

  @Test func aFolderThatIsTwoGroupsIsSealedAgainForBoth() async throws {
    let team = try shared()
    let both = router("com.example.app", ["group.a": team, "group.b": team])
    let keys = [inGroup("group.a", "a"), inGroup("group.b", "b")]
    for key in keys { try await both.set("before", for: key) }
    let report = try await both.rotate(openedBy: Application.new)
    #expect(report.isComplete, "\(report)")
    for key in keys { #expect(try await both.get(key) == "before", "\(key.domain)") }
  }

  @Test func aFolderThatAnotherProgramCallsOtherwiseKeepsItsKey() async throws {
    let team = try shared()
    let own = router("com.example.app", ["group.a": team])
    let other = router("com.example.other", ["group.b": team])
    let (mine, theirs) = (inGroup("group.a", "a"), inGroup("group.b", "b"))
    try await own.set("before", for: mine)
    try await other.set("before", for: theirs)
    let report = try await own.rotate(openedBy: Application.new)
    #expect(report.left.map(\.error.code) == [.damaged], "\(report)")
    #expect(try await own.get(mine) == "before")
    #expect(try await other.get(theirs) == "before")
    // Each program finishes what it can open.
    #expect(try await other.rotate().left.map(\.error.code) == [.damaged])
    #expect(try await own.rotate(openedBy: Application.new).isComplete)
    #expect(try await other.rotate().isComplete)
    #expect(try await own.get(mine) == "before")
    #expect(try await other.get(theirs) == "before")
  }

  @Test(arguments: [nil, "group.renamed"])
  func aGroupThatTheConfigurationRenamedIsSealedAgain(_ id: String?) async throws {
    let team = try shared()
    let (own, other) = (
      router("com.example.app", ["group.a": team]), router("com.example.other", ["group.a": team])
    )
    let (mine, theirs) = (inGroup("group.a", "mine"), inGroup("group.a", "theirs"))
    try await own.set("before", for: mine)
    try await other.set("before", for: theirs)
    let renamed = router("com.example.app", id.map { [$0: team] } ?? [:])
    let report = try await renamed.rotate(openedBy: Application.new)
    #expect(report.isComplete, "\(report)")
    let again = router("com.example.app", ["group.a": team])
    #expect(try await again.get(mine) == "before")
    #expect(try await other.get(theirs) == "before")
  }

  @Test func whatIsNoFileInAGroupsFolderStopsNothing() async throws {
    let owner = application.router(Application.old)
    try await application.fill("before", owner)
    let documents = folder.path + "/groups/group.test/Documents/"
    #expect(unsafe mkfifo(documents + "pipe", 0o600) == 0)
    try files.createSymbolicLink(atPath: documents + "link", withDestinationPath: "/dev/zero")
    let report = try await owner.rotate(openedBy: Application.new)
    #expect(report.isComplete, "\(report)")
    try await application.requireValues("before", application.router(Application.new))
  }
}
