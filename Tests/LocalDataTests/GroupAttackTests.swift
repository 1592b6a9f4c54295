import Foundation
import LocalData
import TestSupport
import Testing

/// What a member of a group can't do to another user who uses the group's folder.
@Suite(.enabled(if: Machine.canBecomeAnother))
struct GroupAttackTests {
  /// The attacker's user id; the victim is ``Machine/otherUser``, and the group has the same
  /// number.
  private static let attacker = Machine.otherUser - 1
  private let folder = TestFolder()
  private let file = key(
    "file", .appGroupFileSystem(id: "group.test", directory: .documents), .none)
  private var shared: URL { folder.url.appendingPathComponent("shared", isDirectory: true) }
  private var home: URL { folder.url.appendingPathComponent("home", isDirectory: true) }
  private var secret: URL { folder.url.appendingPathComponent("private", isDirectory: true) }

  /// Makes the group's folder, and a private folder of the victim with a file of the key's name.
  private func prepare() async throws {
    for (url, group, mode) in [
      (shared, Machine.otherUser, 0o2770), (home, Machine.otherUser + 1, 0o700),
      (secret, Machine.otherUser + 1, 0o700),
    ] as [(URL, UInt32, mode_t)] {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
      let owner = url == shared ? 0 : Machine.otherUser
      #expect(unsafe chown(url.path, owner, group) == 0)
      #expect(unsafe chmod(url.path, mode) == 0)
    }
    #expect(unsafe chmod(folder.path, 0o711) == 0)
    try await router.set("first", for: file)
    try await makePrivate("file", "\"PRIVATE\"")
    try await makePrivate("PRIVATE-name", "secret")
  }

  private func makePrivate(_ name: String, _ text: String) async throws {
    let path = secret.path + "/" + name
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    #expect(unsafe chown(path, Machine.otherUser, Machine.otherUser + 1) == 0)
    #expect(unsafe chmod(path, 0o600) == 0)
  }

  private var router: StorageRouter {
    folder.router(
      configuration: StorageConfiguration(keychain: .vault, groupFolders: ["group.test": shared]))
  }

  private static func user(_ id: UInt32) -> [String] {
    [
      "setpriv", "--reuid", "\(id)", "--regid", "\(id == attacker ? id : id + 1)", "--groups",
      "\(Machine.otherUser)",
    ]
  }

  /// Has the victim use the folder so often, and gives the results that it had.
  private func victim(_ times: Int) throws -> [String] {
    let helper = try HelperProgram("LocalDataTestChild").copy(to: folder.path)
    return try helper.start(
      ["attacked", home.path, shared.path, "\(times)"], prefix: Self.user(Machine.otherUser)
    ).lines()
  }

  private func requirePrivateIsAsItWas() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: secret.path).sorted()
    #expect(names == ["PRIVATE-name", "file"])
    #expect(
      try String(contentsOf: secret.appendingPathComponent("file"), encoding: .utf8)
        == "\"PRIVATE\"")
  }

  @Test func whoExchangesAFolderAndALinkReachesNoPrivateFile() async throws {
    try await prepare()
    let link = shared.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: secret.path)
    #expect(unsafe lchown(link, Self.attacker, Machine.otherUser) == 0)
    let helper = try HelperProgram("LocalDataTestChild").copy(to: folder.path)
    let attack = try helper.start(
      ["exchange", shared.path + "/Documents", link], prefix: Self.user(Self.attacker))
    attack.waitUntilItSpeaks()
    let said = try victim(1_000)
    attack.kill()
    #expect(said.contains("done") && said.contains("denied"), "\(said)")
    let allowed: Set = ["busy", "denied", "done", "io", "unavailable"]
    #expect(allowed.isSuperset(of: said), "\(said)")
    try requirePrivateIsAsItWas()
  }

  @Test func aPrivateFolderInThePlaceOfTheGroupsIsNotUsed() async throws {
    try await prepare()
    // The victim keeps it in the group's folder, where every member can rename it.
    try FileManager.default.moveItem(
      atPath: shared.path + "/Documents", toPath: shared.path + "/old")
    try FileManager.default.moveItem(atPath: secret.path, toPath: shared.path + "/Documents")
    #expect(try victim(2) == ["denied", "done"])  // the audit is done, and says that it was denied
    try FileManager.default.moveItem(atPath: shared.path + "/Documents", toPath: secret.path)
    try requirePrivateIsAsItWas()
  }

  @Test func aPrivateFileInThePlaceOfTheGroupsIsNotRead() async throws {
    try await prepare()
    let path = shared.path + "/Documents/file"
    #expect(unsafe unlink(path) == 0)
    // As where the kernel lets users link the files of others (fs.protected_hardlinks=0).
    #expect(unsafe link(secret.path + "/file", path) == 0)
    #expect(await code { _ = try await router.get(file) } == .denied)
    try await router.set("second", for: file)
    #expect(try await router.get(file) == "second")
    try requirePrivateIsAsItWas()
  }

  @Test func aFolderWhoseMakerDiedBeforeItWasSharedIsFinished() async throws {
    try await prepare()
    let path = shared.path + "/Caches"
    #expect(unsafe mkdir(path, 0o700) == 0)
    let cached = key("file", .appGroupFileSystem(id: "group.test", directory: .caches), .none)
    #expect(try await router.get(cached) == nil)
    try await router.set("value", for: cached)
    #expect(try folder.mode("shared/Caches") == 0o2770)
    #expect(try await router.get(cached) == "value")
  }
}
