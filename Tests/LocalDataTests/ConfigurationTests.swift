import Foundation
import LocalData
import StorageTesting
import Testing

@Suite struct ConfigurationTests {
  private let folder = TestFolder()
  private let file = key("letter", .fileSystem(directory: .documents), .none)
  private let sealed = key("notes", .encryptedFileSystem(directory: .documents))
  private let token = key(
    "token", .keychain(service: nil), .keychain(accessibility: .afterFirstUnlock))
  private let theme = key("theme", .userDefaults)
  private let shared = key("shared", .appGroupUserDefaults(identifier: nil))

  private var usual: StorageConfiguration {
    StorageConfiguration(
      defaultKeychainService: "com.myapp", defaultAppGroupIdentifier: "group.one",
      keychain: .vault)
  }

  private func fill() async throws {
    let router = folder.router(configuration: usual)
    for key in [file, sealed, token, theme, shared] {
      try await router.set("value of \(key.name)", for: key)
    }
  }

  /// Which keys are the error that names them, and that the others can be read.
  private func conflicting(_ router: StorageRouter) async -> Set<String> {
    var names: Set<String> = []
    for key in [file, sealed, token, theme, shared] {
      let found = await error { _ = try await router.get(key) }
      if found?.code == .configurationConflict {
        #expect(found?.key == key.name)
        #expect(await code { try await router.set("x", for: key) } == .configurationConflict)
        #expect(await code { try await router.remove(key) } == .configurationConflict)
        names.insert(key.name)
      } else {
        #expect(found == nil)
      }
    }
    return names
  }

  private func expectAllThere() async throws {
    let router = folder.router(configuration: usual)
    for key in [file, sealed, token, theme, shared] {
      #expect(try await router.get(key) == "value of \(key.name)")
    }
  }

  @Test func anotherConfigurationHidesNothing() async throws {
    try await fill()
    var (service, group) = (usual, usual)
    service.defaultKeychainService = "com.other"
    group.defaultAppGroupIdentifier = "group.two"
    #expect(await conflicting(folder.router(configuration: service)) == ["token"])
    #expect(await conflicting(folder.router(configuration: group)) == ["shared"])
    let inner = folder.router(configuration: usual)
    await inner.updateFileStorageConfiguration(FileStorageConfiguration(subDirectory: "Other"))
    #expect(await conflicting(inner) == ["letter", "notes"])
    let master = folder.router(configuration: usual)
    await master.updateEncryptionConfiguration(
      EncryptionConfiguration(masterKeyService: "com.myapp.LocalData", masterKeyAccount: "M"))
    #expect(await conflicting(master) == ["notes", "theme"])
    try await expectAllThere()
  }

  @Test func applyRefusesAndNamesWhatItWouldHideAndTakesTheRest() async throws {
    try await fill()
    let router = folder.router(configuration: usual)
    let error = try #require(
      await error {
        try await router.apply(files: FileStorageConfiguration(subDirectory: "Other"))
      })
    #expect(error.code == .configurationConflict)
    #expect(error.message.contains("letter") && error.message.contains("notes"))
    #expect(!error.message.contains("value of"))
    #expect(await router.fileStorageConfiguration == FileStorageConfiguration())
    try await router.apply(
      encryption: EncryptionConfiguration(pbkdf2Iterations: 7),
      sync: SyncConfiguration(maxAutoSyncSize: 50_000))
    #expect(await router.syncConfiguration.maxAutoSyncSize == 50_000)
    #expect(await conflicting(router) == [])
  }

  @Test func onceTheDataIsGoneTheConfigurationMayChange() async throws {
    try await fill()
    let first = folder.router(configuration: usual)
    try await first.remove(file)
    try await first.remove(sealed)
    let router = folder.router(configuration: usual)
    try await router.apply(files: FileStorageConfiguration(subDirectory: "Other"))
    try await router.set("new", for: file)
    #expect(folder.files().contains("data/com.example.app/Documents/Other/letter"))
  }

  @Test(arguments: [
    (StorageDomain.userDefaults, SecurityPolicy.none, SecurityPolicy.recommended),
    (.userDefaults, .recommended, .none),
    (.fileSystem(directory: .documents), .none, .recommended),
    (.fileSystem(directory: .documents), .recommended, .none),
    (.keychain(service: "s"), .recommended, .keychain(accessibility: .always)),
    (.keychain(service: "s"), .keychain(accessibility: .always), .recommended),
  ])
  func anotherPolicyIsAConflictAndNotDamage(
    _ domain: StorageDomain, _ old: SecurityPolicy, _ new: SecurityPolicy
  ) async throws {
    try await folder.router().set(
      Data([1, 2, 3]), for: key("x", domain, old, .data, of: Data.self))
    let changed = key("x", domain, new, .data, of: Data.self)
    let router = folder.router()
    #expect(await code { _ = try await router.get(changed) } == .configurationConflict)
    #expect(await code { try await router.set(Data(), for: changed) } == .configurationConflict)
    #expect(
      try await folder.router().get(key("x", domain, old, .data, of: Data.self))
        == Data([1, 2, 3]))
  }

  @Test func withoutAKeyringTheVaultIsChosenAndRecorded() async throws {
    let router = StorageRouter(
      applicationID: "com.example.app", keySource: .key(TestFolder.key), root: folder.path,
      keyringBus: "unix:path=\(folder.path)/no-bus")
    try await router.set("1", for: token)
    #expect(folder.files().contains("data/com.example.app/keychain.vault"))
    let explicit = folder.router(configuration: StorageConfiguration(keychain: .vault))
    #expect(try await explicit.get(token) == "1")
  }

  @Test func aValueThatAnotherProcessMovedIsAConflictAndNotAbsent() async throws {
    struct Keys {
      let file = key("letter", .fileSystem(directory: .documents), .none)
      let sealed = key("notes", .encryptedFileSystem(directory: .documents))
    }
    let router = folder.router()
    for key in [file, sealed] {
      try await router.set("value of \(key.name)", for: key)
      #expect(try await router.get(key) != nil)
    }
    @Stored(Keys().file, router: router) var letter: String?
    let other = folder.router()
    await other.updateFileStorageConfiguration(FileStorageConfiguration(subDirectory: "Sub"))
    try other.registerKeys(Keys())
    let former = FormerConfiguration(files: FileStorageConfiguration())
    #expect(await other.migrateAll(from: former).moved.count == 2)
    for key in [file, sealed] {
      for call: @Sendable () async throws -> Void in [
        { _ = try await router.get(key) }, { _ = try await router.contains(key) },
        { try await router.update(key) { _ in } }, { try await router.remove(key) },
        { try await router.set("x", for: key) },
      ] {
        let error = await error { try await call() }
        #expect(error?.code == .configurationConflict && error?.key == key.name)
      }
      #expect(try await other.get(key) == "value of \(key.name)")
    }
    let read = await code { _ = try await $letter.loadAsync() }
    #expect(read == .configurationConflict)
  }

  @Test func aValueThatAnotherProcessSealedInItsPlaceIsAConflictAndNotItsBytes() async throws {
    let documents = StorageDomain.fileSystem(directory: .documents)
    let plain = key("x", documents, .none, .data, of: Data.self)
    let sealed = key("x", documents, .recommended, .data, of: Data.self)
    let (router, other) = (folder.router(), folder.router())
    try await router.set(Data([1]), for: plain)
    try await other.migrate(.move(from: plain, to: sealed))
    #expect(await code { _ = try await router.get(plain) } == .configurationConflict)
    #expect(try await other.get(sealed) == Data([1]))
    try await other.migrate(.move(from: sealed, to: plain))
    #expect(try await router.get(plain) == Data([1]))
    #expect(await code { _ = try await other.get(sealed) } == .configurationConflict)
  }

  /// Its keys would otherwise stay in memory, and its files open, until the process ends.
  @Test func aReleasedRouterClosesItsFiles() async throws {
    let folder = TestFolder()
    do {
      let router = folder.router(configuration: usual)
      for key in [file, sealed, token, theme, shared] {
        try await router.set("value", for: key)
        #expect(try await router.get(key) == "value")
      }
      #expect(!openFiles(in: folder.path).isEmpty)
    }
    let end = ContinuousClock.now + .seconds(60)
    while !openFiles(in: folder.path).isEmpty, ContinuousClock.now < end {
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(openFiles(in: folder.path).isEmpty)
  }

  @Test(arguments: [TestStorage.inMemory, .temporaryFolder])
  func theRouterOfATestEndsWithIt(_ storage: TestStorage) async throws {
    weak var router: StorageRouter?
    try await storage.run {
      router = StorageRouter.shared
      try await StorageRouter.shared.set("value", for: theme)
    }
    let end = ContinuousClock.now + .seconds(60)
    while router != nil, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(5)) }
    #expect(router == nil)
  }

  /// The files of a folder that this process has open.
  private func openFiles(in folder: String) -> [String] {
    let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return descriptors.compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
    }.filter { $0.hasPrefix(folder) }
  }
}
