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

  @Test(.enabled(if: Machine.canBecomeAnother), arguments: [0o2777, 0o770, 0o2750] as [mode_t])
  func aFolderOfOtherRightsIsRefused(_ mode: mode_t) async throws {
    let router = folder.router(configuration: sharing(try administratorsFolder(mode: mode)))
    #expect(await code { try await router.set("1", for: file) } == .denied)
  }

  @Test func aFolderThatNobodyMadeIsUnavailable() async {
    let url = folder.url.appendingPathComponent("missing", isDirectory: true)
    let router = folder.router(configuration: sharing(url))
    #expect(await code { try await router.set("1", for: file) } == .unavailable)
  }
}
