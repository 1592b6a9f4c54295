import Foundation
import Glibc
import LocalData
import TestSupport
import Testing

@Suite struct GroupTests {
  private let folder = TestFolder()
  private let settings = key("theme", .appGroupUserDefaults(identifier: "group.test"), .none)
  private let secret = key("secret", .appGroupUserDefaults(identifier: "group.test"))
  private let file = key("file", .appGroupFileSystem(id: "group.test", directory: .documents))

  @Test func aGroupsKeyThatIsGoneIsNotMadeAnew() async throws {
    try await folder.router().set("1", for: secret)
    let key = folder.url.appendingPathComponent("groups/group.test/.group.key")
    let kept = try Data(contentsOf: key)
    try FileManager.default.removeItem(at: key)
    #expect(await code { _ = try await folder.router().get(secret) } == .keyUnavailable)
    #expect(await code { try await folder.router().set("2", for: secret) } == .keyUnavailable)
    try Data("nonsense\n".utf8).write(to: key)
    #expect(await code { _ = try await folder.router().get(secret) } == .damaged)
    try kept.write(to: key)
    #expect(try await folder.router().get(secret) == "1")
  }

  @Test func linksAndPipesAreNotFollowed() async throws {
    try await folder.router().set("1", for: file)
    let documents = folder.path + "/groups/group.test/Documents/"
    try FileManager.default.moveItem(atPath: documents + "file", toPath: documents + "other")
    try FileManager.default.createSymbolicLink(
      atPath: documents + "file", withDestinationPath: documents + "other")
    #expect(await code { _ = try await folder.router().get(file) } == .denied)
    try FileManager.default.removeItem(atPath: documents + "file")
    #expect(unsafe mkfifo(documents + "file", 0o600) == 0)
    #expect(await code { _ = try await folder.router().get(file) } == .denied)
  }

  private var elsewhere: URL { folder.url.appendingPathComponent("elsewhere", isDirectory: true) }

  /// A router whose group is in a folder of its own.
  private func routerElsewhere() throws -> StorageRouter {
    try FileManager.default.createDirectory(
      at: elsewhere, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return folder.router(
      configuration: StorageConfiguration(
        keychain: .vault, groupFolders: ["group.test": elsewhere]))
  }

  @Test(.enabled(if: Machine.canBecomeAnother, "needs root and setpriv"))
  func anotherUserIsDenied() async throws {
    let router = try routerElsewhere()
    for key in [settings, secret, file] { try await router.set("of root", for: key) }
    #expect(unsafe chmod(folder.path, 0o711) == 0)
    let home = folder.url.appendingPathComponent("stranger", isDirectory: true)
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    #expect(unsafe chown(home.path, Machine.otherUser, Machine.otherUser) == 0)
    let helper = try HelperProgram("LocalDataTestChild").copy(to: folder.path)
    let command = Machine.asOtherUser + [helper.path, home.path, elsewhere.path]
    #expect(try Child.run(command + ["read"]) == ["denied", "denied", "denied"])
    #expect(try Child.run(command + ["write"]) == ["denied", "denied", "denied"])
    for key in [settings, secret, file] { #expect(try await router.get(key) == "of root") }
  }

  @Test(
    .enabled(if: Machine.canBecomeAnother, "needs root and setpriv"),
    arguments: [0o2770, 0o770, 0o777, 0o1777] as [mode_t])
  func aFolderThatOthersCanWriteToIsUnsupported(_ mode: mode_t) async throws {
    let router = try routerElsewhere()
    for key in [settings, secret, file] { try await router.set("1", for: key) }
    // Below the test's folder, nobody else could get there.
    #expect(unsafe chmod(folder.path, 0o711) == 0)
    #expect(unsafe chown(elsewhere.path, 0, Machine.otherUser) == 0)
    #expect(unsafe chmod(elsewhere.path, mode) == 0)
    for key in [settings, secret, file] {
      for call: @Sendable () async throws -> Void in [
        { try await router.set("2", for: key) }, { _ = try await router.get(key) },
        { _ = try await router.contains(key) }, { try await router.remove(key) },
      ] {
        let error = try #require(await error(call))
        #expect(error.code == .unsupported && error.path == elsewhere.path)
        #expect(error.message.contains("etcd") && error.message.contains("vault"))
      }
    }
    #expect(unsafe chmod(elsewhere.path, 0o700) == 0)
    for key in [settings, secret, file] { #expect(try await router.get(key) == "1") }
  }

  @Test func aFolderThatNobodyMadeIsUnavailable() async throws {
    let router = try routerElsewhere()
    try FileManager.default.removeItem(at: elsewhere)
    #expect(await code { try await router.set("1", for: file) } == .unavailable)
    #expect(await code { _ = try await router.get(file) } == .unavailable)
  }

  /// Runs a program of this user, in the folder that stands for the user's home.
  private func program(_ arguments: String...) throws -> [String] {
    try HelperProgram("LocalDataTestChild").start(["program", folder.path] + arguments).lines()
  }

  @Test func twoProgramsShareAGroupAndNothingElse() async throws {
    #expect(try program("com.example.one", "write", "of one") == ["done", "done", "done", "done"])
    #expect(try program("com.example.two", "read") == ["of one", "of one", "of one", "absent"])
    #expect(try program("com.example.two", "write", "of two") == ["done", "done", "done", "done"])
    #expect(try program("com.example.one", "read") == ["of two", "of two", "of two", "of one"])
    #expect(try folder.mode("groups/group.test/.group.key") == 0o600)
  }

  @Test func twoProgramsAtOnceLoseNoChange() async throws {
    let helper = HelperProgram("LocalDataTestChild")
    let children = try ["one", "two"].map {
      try helper.start(["program", folder.path, "com.example.\($0)", "count", "25"])
    }
    for child in children { #expect(try child.lines() == ["done"]) }
    let counter = key("count", .appGroupUserDefaults(identifier: "group.test"), of: Int.self)
    #expect(try await folder.router().get(counter) == 50)
  }

  @Test func twoProgramsSyncThroughAVaultInTheFolderOfTheirGroup() async throws {
    let helper = HelperProgram("LocalDataTestChild")
    let folders = (TestFolder(), TestFolder())
    func sync(_ place: TestFolder, _ arguments: String...) throws -> [String] {
      try helper.start(["sync", place.path, folder.path + "/shared.vault"] + arguments).lines()
    }
    #expect(try sync(folders.0, "set", "one") == ["sent one"])
    #expect(try sync(folders.1, "keep") == ["received one"])
    #expect(try sync(folders.1, "set", "two") == ["sent two"])
    #expect(try sync(folders.0, "set", "three") == ["conflict three"])
    #expect(try sync(folders.0, "take") == ["received two"])
    #expect(try sync(folders.1, "keep") == ["upToDate two"])
    #expect(!folder.holds("two"))
  }
}
