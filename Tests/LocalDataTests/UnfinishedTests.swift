import Foundation
import LocalData
import Testing
import VaultBackend

/// What is there after a process died between two steps, and what hostile files lead to.
@Suite struct UnfinishedTests {
  private let folder = TestFolder()
  private let file = key("letter", .fileSystem(directory: .documents), .none)
  private let setting = key("theme", .userDefaults, .none)

  private var documents: URL {
    folder.url.appendingPathComponent("data/com.example.app/Documents", isDirectory: true)
  }
  private var suite: URL {
    folder.url.appendingPathComponent("config/com.example.app.localdata.plain.plist")
  }
  private var ledger: URL {
    folder.url.appendingPathComponent("data/com.example.app/localdata.vault")
  }

  @Test func aNewFileThatWasNeverRenamedIsNobodys() async throws {
    try await folder.router().set("old", for: file)
    try Data("half".utf8).write(to: documents.appendingPathComponent(".new"))
    #expect(try await folder.router().get(file) == "old")
    try await folder.router().set("new", for: file)
    #expect(try await folder.router().get(file) == "new")
    #expect(!FileManager.default.fileExists(atPath: documents.path + "/.new"))
  }

  @Test func anEntryOfTheLedgerWithoutItsValueHidesNothing() async throws {
    try await folder.router().set("1", for: file)
    try FileManager.default.removeItem(at: documents.appendingPathComponent("letter"))
    let router = folder.router()
    #expect(try await router.get(file) == nil)
    await router.updateFileStorageConfiguration(FileStorageConfiguration(subDirectory: "Sub"))
    try await router.set("2", for: file)
    #expect(try await router.get(file) == "2")
  }

  @Test func aMasterKeyThatWasMadeAndNotRecordedIsTheMasterKey() async throws {
    let key = key("x", .userDefaults)
    let made = Data(repeating: 5, count: 32)
    try VaultFiles.master(in: folder).save(made, forKey: VaultFiles.masterName)
    try await folder.router().set("1", for: key)
    #expect(try await folder.router().get(key) == "1")
    #expect(
      try VaultFiles.master(in: folder).load(Data.self, forKey: VaultFiles.masterName) == made)
  }

  @Test func twoProcessesThatMakeTheMasterKeyHaveOne() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<8 {
        let router = folder.router()
        group.addTask { try await router.set("\(index)", for: key("x\(index)", .userDefaults)) }
      }
      try await group.waitForAll()
    }
    for index in 0..<8 {
      #expect(try await folder.router().get(key("x\(index)", .userDefaults)) == "\(index)")
    }
  }

  @Test func aGroupsKeyWithoutItsMarkerGetsOne() async throws {
    let secret = key("s", .appGroupUserDefaults(identifier: "group.test"))
    try await folder.router().set("1", for: secret)
    let marker = folder.url.appendingPathComponent("groups/group.test/.group.key.made")
    try FileManager.default.removeItem(at: marker)
    try await folder.router().set("2", for: secret)
    #expect(FileManager.default.fileExists(atPath: marker.path))
  }

  @Test(arguments: ["", "bplist00", "nonsense", "<?xml version=\"1.0\"?><plist><dict/></plist>"])
  func aSuiteThatIsNoPropertyListIsDamagedAndStays(_ text: String) async throws {
    try await folder.router().set("dark", for: setting)
    try Data(text.utf8).write(to: suite)
    let error = try #require(await error { _ = try await folder.router().get(setting) })
    #expect(error.code == .damaged)
    #expect(error.path == suite.path)
    #expect(await code { try await folder.router().set("x", for: setting) } == .damaged)
    #expect(try Data(contentsOf: suite) == Data(text.utf8))
  }

  @Test func anAlteredSuiteIsDamagedOrHasAnotherValue() async throws {
    try await folder.router().set("dark", for: setting)
    let bytes = try Data(contentsOf: suite)
    for offset in bytes.indices {
      var altered = bytes
      altered[offset] ^= 0x55
      try altered.write(to: suite)
      // Plain data has no seal: what matters is that nothing worse happens.
      let found = await code { _ = try await folder.router().get(setting) }
      #expect([nil, .damaged, .typeMismatch].contains(found), "byte \(offset)")
    }
  }

  @Test func aFileOfEndlessSizeIsNotRead() async throws {
    try await folder.router().set("1", for: file)
    let handle = try FileHandle(forWritingTo: documents.appendingPathComponent("letter"))
    try handle.truncate(atOffset: 1 << 40)
    try handle.close()
    #expect(await code { _ = try await folder.router().get(file) } == .damaged)
  }

  @Test func aLinkInThePlaceOfAFileIsNotFollowed() async throws {
    try await folder.router().set("1", for: file)
    let path = documents.path + "/letter"
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: suite.path)
    #expect(await code { _ = try await folder.router().get(file) } == .denied)
    // A write replaces the link, and not what it leads to.
    try await folder.router().set("2", for: file)
    #expect(try await folder.router().get(file) == "2")
    #expect(!FileManager.default.fileExists(atPath: suite.path))
  }

  @Test func aLedgerThatCannotBeOpenedIsAnErrorAndNotIgnored() async throws {
    try await folder.router().set("1", for: file)
    let other = StorageRouter(
      applicationID: "com.example.app", keySource: .key(SymmetricKey(size: .bits256)),
      folder: folder.url, configuration: StorageConfiguration(keychain: .vault))
    #expect(await code { _ = try await other.get(file) } == .wrongKey)
    #expect(await code { try await other.set("2", for: file) } == .wrongKey)
    #expect(try await folder.router().get(file) == "1")
  }

  @Test func theLedgerTellsNothingInTheClear() async throws {
    try await folder.router().set("1", for: key("very-telling-name", .keychain(service: "s")))
    #expect(!folder.holds("very-telling-name"))
    #expect(FileManager.default.fileExists(atPath: ledger.path))
  }

  @Test func atOnceManyTasksLoseNoChange() async throws {
    for (number, each) in [
      Combination(domain: .userDefaults, security: .none),
      Combination(domain: .userDefaults, security: .recommended),
      Combination(domain: .fileSystem(directory: .documents), security: .recommended),
      Combination(domain: .encryptedFileSystem(directory: .caches), security: .recommended),
      Combination(domain: .keychain(service: "s"), security: .recommended),
      Combination(
        domain: .appGroupUserDefaults(identifier: "group.test"), security: .recommended),
    ].enumerated() {
      let counter = key("n\(number)", each.domain, each.security, of: Int.self)
      let routers = [folder.router(), folder.router()]
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<20 {
          group.addTask { try await routers[index % 2].update(counter) { $0 = ($0 ?? 0) + 1 } }
        }
        try await group.waitForAll()
      }
      let sum = try await folder.router().get(counter)
      #expect(sum == 20, "\(each.domain) \(each.security)")
    }
  }
}
