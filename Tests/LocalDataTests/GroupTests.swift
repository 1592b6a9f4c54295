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

  @Test func twoProgramsOfAUserShareAGroup() async throws {
    let (one, two) = (folder.router("com.example.one"), folder.router("com.example.two"))
    for key in [settings, secret, file] {
      try await one.set("of one", for: key)
      #expect(try await two.get(key) == "of one")
      try await two.set("of two", for: key)
      #expect(try await one.get(key) == "of two")
    }
    #expect(try folder.mode("groups/group.test/.group.key") == 0o600)
  }

  @Test func atOnceTheyLoseNothing() async throws {
    let counter = key(
      "count", .appGroupUserDefaults(identifier: "group.test"), .recommended, of: Int.self)
    let routers = (0..<4).map { folder.router("com.example.p\($0)") }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for router in routers {
        group.addTask {
          for _ in 0..<10 { try await router.update(counter) { $0 = ($0 ?? 0) + 1 } }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await folder.router().get(counter) == 40)
  }

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

  /// A folder that an administrator made for the group of the other user of these tests.
  private func administratorsFolder(mode: mode_t = 0o2770) throws -> URL {
    let url = folder.url.appendingPathComponent("shared", isDirectory: true)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    #expect(unsafe chown(url.path, 0, Machine.otherUser) == 0)
    #expect(unsafe chmod(url.path, mode) == 0)
    // The other user has to get there.
    #expect(unsafe chmod(folder.path, 0o711) == 0)
    return url
  }

  private func sharing(_ url: URL) -> StorageConfiguration {
    StorageConfiguration(keychain: .vault, groupFolders: ["group.test": url])
  }

  @Test(.enabled(if: Machine.canBecomeAnother))
  func twoUsersOfAGroupShareASetgidFolder() async throws {
    let url = try administratorsFolder()
    let router = folder.router(configuration: sharing(url))
    for key in [settings, secret, file] { try await router.set("of root", for: key) }
    let helper = try HelperProgram("LocalDataTestChild").copy(to: folder.path)
    let home = folder.url.appendingPathComponent("other-user", isDirectory: true)
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    #expect(unsafe chown(home.path, Machine.otherUser, Machine.otherUser) == 0)
    #expect(unsafe chmod(home.path, 0o700) == 0)
    let command = Machine.asOtherUser + [helper.path, home.path, url.path]
    #expect(try Child.run(command + ["read"]) == ["of root", "of root", "of root"])
    #expect(try Child.run(command + ["write"]) == ["done", "done", "done"])
    for key in [settings, secret, file] { #expect(try await router.get(key) == "of another") }
    for name in try FileManager.default.subpathsOfDirectory(atPath: url.path) {
      var status = stat()
      #expect(unsafe lstat(url.path + "/" + name, &status) == 0)
      #expect(status.st_mode & 0o007 == 0, "\(name)")
      #expect(status.st_gid == Machine.otherUser, "\(name)")
    }
  }

  @Test(.enabled(if: Machine.canBecomeAnother))
  func aUserWhoIsNotOfTheGroupIsDenied() async throws {
    let url = try administratorsFolder()
    let router = folder.router(configuration: sharing(url))
    for key in [settings, secret, file] { try await router.set("of root", for: key) }
    let home = folder.url.appendingPathComponent("stranger", isDirectory: true)
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    let helper = try HelperProgram("LocalDataTestChild").copy(to: folder.path)
    let stranger = Machine.otherUser - 1
    #expect(unsafe chown(home.path, stranger, stranger) == 0)
    let command =
      ["setpriv", "--reuid", "\(stranger)", "--regid", "\(stranger)", "--clear-groups"]
      + [helper.path, home.path, url.path]
    #expect(try Child.run(command + ["read"]) == ["denied", "denied", "denied"])
    #expect(try Child.run(command + ["write"]) == ["denied", "denied", "denied"])
    for key in [settings, secret, file] { #expect(try await router.get(key) == "of root") }
  }

  @Test(
    .enabled(if: Machine.canBecomeAnother),
    arguments: [0o2777, 0o770, 0o2750, 0o2775] as [mode_t])
  func aFolderOfOtherRightsIsRefused(_ mode: mode_t) async throws {
    let url = try administratorsFolder()
    let router = folder.router(configuration: sharing(url))
    for key in [settings, secret, file] { try await router.set("1", for: key) }
    #expect(unsafe chmod(url.path, mode) == 0)
    for key in [settings, secret, file] {
      #expect(await code { try await router.set("2", for: key) } == .denied)
      #expect(await code { _ = try await router.get(key) } == .denied)
      #expect(await code { _ = try await router.contains(key) } == .denied)
    }
    #expect(unsafe chmod(url.path, 0o2770) == 0)
    for key in [settings, secret, file] { #expect(try await router.get(key) == "1") }
  }

  @Test func aFolderThatNobodyMadeIsUnavailable() async {
    let url = folder.url.appendingPathComponent("missing", isDirectory: true)
    let router = folder.router(configuration: sharing(url))
    #expect(await code { try await router.set("1", for: file) } == .unavailable)
    #expect(await code { _ = try await router.get(file) } == .unavailable)
  }

  @Test(.enabled(if: Machine.canBecomeAnother), arguments: [nil, "Sub"])
  func aLinkInThePlaceOfAFolderOfTheGroupIsNotFollowed(_ inner: String?) async throws {
    let url = try administratorsFolder()
    let router = folder.router(configuration: sharing(url))
    await router.updateFileStorageConfiguration(FileStorageConfiguration(subDirectory: inner))
    try await router.set("1", for: file)
    let elsewhere = folder.url.appendingPathComponent("elsewhere", isDirectory: true)
    let documents = url.appendingPathComponent("Documents", isDirectory: true)
    try FileManager.default.moveItem(at: documents, to: elsewhere)
    try FileManager.default.createSymbolicLink(at: documents, withDestinationURL: elsewhere)
    for call: @Sendable () async throws -> Void in [
      { _ = try await router.get(file) }, { _ = try await router.contains(file) },
      { try await router.set("2", for: file) }, { try await router.remove(file) },
    ] { #expect(await code { try await call() } == .denied) }
    try FileManager.default.removeItem(at: documents)
    try FileManager.default.moveItem(at: elsewhere, to: documents)
    #expect(try await router.get(file) == "1")
  }

  @Test(.enabled(if: Machine.canBecomeAnother))
  func aLockFileHasTheRightsOfTheGroupFromTheFirstMoment() async throws {
    let url = try administratorsFolder()
    let router = folder.router(configuration: sharing(url))
    let lock = url.path + "/defaults.plist.lock"
    try await router.set("0", for: settings)
    let isOver = Lock(false)
    let narrow = Task.detached {
      var modes: Set<mode_t> = []
      var status = stat()
      while !isOver.withLock({ $0 }) {
        if unsafe lstat(lock, &status) == 0 { modes.insert(status.st_mode & 0o777) }
      }
      return modes
    }
    for index in 1...200 {
      #expect(unsafe unlink(lock) == 0)
      try await router.set("\(index)", for: settings)
    }
    isOver.withLock { $0 = true }
    #expect(await narrow.value == [0o660])
    let names = try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
    #expect(names == ["defaults.plist", "defaults.plist.lock"])
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
