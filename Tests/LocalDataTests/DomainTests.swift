import Foundation
import LocalData
import TestSupport
import Testing

@Suite struct DomainTests {
  private let folder = TestFolder()
  private let marker = "marker-5e1f0b"

  @Test(arguments: Combination.sealed + Combination.plain)
  func aValueIsReadBackByAnotherStartOfTheProgram(_ case: Combination) async throws {
    let key = key("a name/with % and ü", `case`.domain, `case`.security)
    let first = folder.router()
    #expect(try await first.get(key) == nil)
    try await first.set(marker, for: key)
    #expect(try await first.get(key) == marker)

    let second = folder.router()
    #expect(try await second.get(key) == marker)
    try await second.set("other", for: key)
    #expect(try await first.get(key) == "other")
    try await second.remove(key)
    #expect(try await first.get(key) == nil)
    #expect(try await first.contains(key) == false)
  }

  @Test(arguments: Combination.sealed + Combination.plain)
  func onlyWhatIsPlainByDeclarationIsReadableAndByTheOwnerAlone(_ case: Combination) async throws {
    let key = key("name", `case`.domain, `case`.security)
    try await folder.router().set(marker, for: key)
    #expect(folder.holds("\"\(marker)\"") == (`case`.security == .none))
    #expect(folder.holds(marker) == (`case`.security == .none))
    #expect(!folder.holds(Data(marker.utf8).base64EncodedString()))
    for file in folder.files() { #expect(try folder.mode(file) & 0o077 == 0, "\(file)") }
  }

  @Test func theSharedRouterHasTheAccessOfTheProgram() throws {
    let homes: [String: String?] = [
      "HOME": folder.path, "CFFIXED_USER_HOME": folder.path, "STATE_DIRECTORY": nil,
      "XDG_DATA_HOME": folder.path + "/data", "XDG_CONFIG_HOME": folder.path + "/config",
    ]
    func said(_ access: String) throws -> [String] {
      try HelperProgram("LocalDataTestChild").run(
        "program", folder.path, "com.example.shared", "shared", access, environment: homes)
    }
    #expect(try said("mustExist") == ["unavailable", "unavailable"])
    #expect(try said("readOnly") == ["readOnly", "readOnly"])
    #expect(folder.files().filter { !$0.contains(".lock") } == [])
    #expect(try said("readWrite") == ["done", "done"])
    #expect(try said("mustExist") == ["done", "done"])
    #expect(try said("readOnly") == ["readOnly", "readOnly"])
  }

  @Test func nothingIsMadeByReading() async throws {
    for each in Combination.sealed + Combination.plain {
      #expect(try await folder.router().get(key("name", each.domain, each.security)) == nil)
    }
    #expect(folder.files().filter { !$0.hasSuffix("data") && !$0.contains(".lock") } == [])
  }

  @Test func keysOfOneNameInDifferentDomainsAreDifferent() async throws {
    let router = folder.router()
    for (index, each) in Combination.plain.enumerated() {
      try await router.set("\(index)", for: key("name", each.domain, each.security))
    }
    for (index, each) in Combination.plain.enumerated() {
      #expect(try await router.get(key("name", each.domain, each.security)) == "\(index)")
    }
  }

  @Test func theStandardFoldersHaveTheirFiles() async throws {
    let router = folder.router()
    try await router.set("1", for: key("x", .fileSystem(directory: .documents), .none))
    try await router.set("2", for: key("y", .fileSystem(directory: .caches), .none))
    await router.updateFileStorageConfiguration(
      FileStorageConfiguration(subDirectory: "MyAppStorage"))
    try await router.set("3", for: key("z", .fileSystem(directory: .documents), .none))
    let files = folder.files()
    #expect(files.contains("data/com.example.app/Documents/x"))
    #expect(files.contains("cache/com.example.app/y"))
    #expect(files.contains("cache/com.example.app/CACHEDIR.TAG"))
    #expect(files.contains("data/com.example.app/Documents/MyAppStorage/z"))
  }

  @Test func aFolderOfTheCallersChoiceIsUsed() async throws {
    let url = folder.url.appendingPathComponent("chosen", isDirectory: true)
    let key = key("x", .fileSystem(directory: .custom(url)), .none)
    try await folder.router().set("1", for: key)
    #expect(folder.files().contains("chosen/x"))
  }

  @Test(arguments: [
    "", "group/evil", "..", "group..\u{0}", ".hidden", "a b", String(repeating: "x", count: 129),
  ])
  func aMalformedGroupIsRefused(_ id: String) async {
    for domain in [
      StorageDomain.appGroupUserDefaults(identifier: id),
      .appGroupFileSystem(id: id, directory: .documents),
    ] {
      #expect(
        await code { _ = try await folder.router().get(key("x", domain)) }
          == .invalidAppGroupIdentifier)
    }
  }

  @Test func aMissingGroupIsRefusedAndADefaultOneTaken() async throws {
    let key = key("x", .appGroupUserDefaults(identifier: nil))
    #expect(
      await code { try await folder.router().set("1", for: key) } == .invalidAppGroupIdentifier)
    let router = folder.router(
      configuration: StorageConfiguration(
        defaultAppGroupIdentifier: "group.com.myapp", keychain: .vault))
    try await router.set("1", for: key)
    #expect(folder.files().contains("groups/group.com.myapp/defaults.plist"))
  }

  @Test func aServiceLeftOutIsTheConfiguredOne() async throws {
    let router = folder.router(
      configuration: StorageConfiguration(
        defaultKeychainService: "com.myapp.keychain", keychain: .vault))
    try await router.set("1", for: key("x", .keychain(service: nil)))
    #expect(
      try await router.get(key("x", .keychain(service: "com.myapp.keychain"))) == "1")
    #expect(try await router.get(key("x", .keychain(service: "another"))) == nil)
  }

  @Test(arguments: ["", "a\nb", String(repeating: "x", count: 201)])
  func aNameThatCannotBeIsRefused(_ name: String) async {
    for domain in Combination.plainDomains + Combination.sealingDomains {
      #expect(await code { try await folder.router().set("1", for: key(name, domain)) } == .invalid)
    }
  }

  @Test func aPlainSuiteIsAPropertyListThatFoundationReads() async throws {
    try await folder.router().set("dark", for: key("theme", .userDefaults, .none))
    let url = folder.url.appendingPathComponent("config/com.example.app.localdata.plain.plist")
    let list = try unsafe PropertyListSerialization.propertyList(
      from: Data(contentsOf: url), format: nil)
    #expect(list as? [String: Data] == ["theme": Data("\"dark\"".utf8)])
  }

  @Test func aBlobThatACacheLostIsAbsentAndOneOfTheDocumentsIsDamaged() async throws {
    let large = String(repeating: "x", count: 100_000)
    for directory in [FileDirectory.caches, .documents] {
      let key = key("large", .encryptedFileSystem(directory: directory))
      let router = folder.router()
      try await router.set(large, for: key)
      for file in folder.files() where file.contains("blobs/") {
        try FileManager.default.removeItem(at: folder.url.appendingPathComponent(file))
      }
      if directory == .caches {
        #expect(try await router.get(key) == nil)
        try await router.set(large, for: key)
        #expect(try await router.get(key) == large)
      } else {
        #expect(await code { _ = try await router.get(key) } == .damaged)
      }
    }
  }

  @Test func theFoldersOfGroupsAreWithinTheirSubDirectory() async throws {
    let router = folder.router()
    await router.updateFileStorageConfiguration(
      FileStorageConfiguration(subDirectory: "MyAppStorage"))
    for directory in [FileDirectory.documents, .caches] {
      let key = key("x", .appGroupFileSystem(id: "group.test", directory: directory), .none)
      try await router.set("1", for: key)
    }
    let files = folder.files()
    #expect(files.contains("groups/group.test/Documents/MyAppStorage/x"))
    #expect(files.contains("groups/group.test/Caches/MyAppStorage/x"))
    #expect(files.contains("groups/group.test/Caches/MyAppStorage/CACHEDIR.TAG"))
  }
}
