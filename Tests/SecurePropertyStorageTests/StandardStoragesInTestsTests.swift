import Foundation
import SecurePropertyStorage
import StorageCore
import StorageTesting
import Testing
import XCTest

/// What a program has: properties of every standard storage.
private struct Settings {
  @UnwrappedVault("test-launches") var launches = 0
  @Vault("test-token") var token: String?
  @CodableVault("test-user") var user: [String: Int]?
  @UnwrappedUserDefault("test-theme") var theme = "dark"
  @Keychain("test-password") var password: String?
  @Singleton("test-attempts") var attempts: Int?

  /// How many of them have a value.
  var count: Int {
    [
      launches != 0, token != nil, user != nil, theme != "dark", password != nil, attempts != nil,
    ].count { $0 }
  }

  func fill(_ number: Int) {
    (launches, token, user) = (number + 1, "token \(number)", ["user": number])
    (theme, password, attempts) = ("theme \(number)", "password \(number)", number)
  }

  func holds(_ number: Int) -> Bool {
    launches == number + 1 && token == "token \(number)" && user == ["user": number]
      && theme == "theme \(number)" && password == "password \(number)" && attempts == number
  }
}

/// Made once for all tests, as a program's often are.
private let global = Settings()

/// Live properties of the standard storages.
private struct LiveSettings {
  @LiveVault("test-live") var launches = 0
  @LiveUserDefault("test-live") var theme: String?
}

private let globalLive = LiveSettings()

/// The standard folders are the user's own unless scripts/private-env.sh made others.
private let isPrivate = ProcessInfo.processInfo.environment["SPS_PRIVATE_ENVIRONMENT"] == "1"

@Suite struct StandardStoragesInTestsTests {
  @Suite(.storage()) struct InMemory {
    @Test(arguments: 0..<20)
    func aLivePropertyKeepsTheLastValueOfItsTest(_ number: Int) throws {
      let storage = VaultStorage.standard
      storage.errorClosure = { _ in }
      let made = LiveSettings()
      #expect(globalLive.launches == 0 && made.launches == 0)
      try storage.save(number + 1, forKey: "test-live")
      #expect(globalLive.launches == number + 1 && made.launches == number + 1)
      try storage.save("many", forKey: "test-live")
      #expect(globalLive.launches == number + 1 && made.launches == number + 1)
      try storage.delete(forKey: "test-live")
      #expect(globalLive.launches == 0 && made.launches == 0)
    }

    @Test(arguments: 0..<200)
    func testsSideBySideHaveStoragesOfTheirOwn(_ number: Int) async {
      let settings = Settings()
      #expect(settings.count == 0 && global.count == 0)
      settings.fill(number)
      await Task.yield()
      #expect(settings.holds(number), "the wrapper made in the test")
      #expect(global.holds(number), "the global wrapper, used in the test")
      async let child = Settings().holds(number)
      #expect(await child, "a wrapper made in a child task")
    }

    @Test func aWrapperOfTheTestKeepsItsStorageOnThreadsThatKnowOfNoTest() async throws {
      let settings = Settings()
      settings.fill(7)
      let isKept = await Task.detached { settings.holds(7) }.value
      #expect(isKept)
      let (isSeen, later) = await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          let isSeen = settings.holds(7)
          settings.fill(8)
          continuation.resume(returning: (isSeen, settings.launches))
        }
      }
      #expect(isSeen && later == 9)
      #expect(settings.holds(8))
    }

    @Test func everyFormOfACallIsTheTests() async throws {
      #expect(VaultStorage.standard === VaultStorage.standard)
      try VaultStorage.standard.save(1, forKey: "direct")
      #expect(try await VaultStorage.standard.loadAsync(Int.self, forKey: "direct") == 1)
      #expect(try await SecureStorage.async { try VaultStorage.standard.keys() } == ["direct"])
      #expect(await global.$launches.async { $0.state } == .absent)
      try await global.$launches.saveAsync(3)
      #expect(try await global.$launches.loadAsync() == 3)
      try await global.$launches.updateAsync { $0 += 1 }
      #expect(global.launches == 4 && global.$launches.storage === VaultStorage.standard)
      #expect(Set(try VaultStorage.standard.keys()) == ["direct", "test-launches"])
      var values = global.$launches.values.makeAsyncIterator()
      #expect(await values.next() == 4)
      try global.$launches.save(5)
      #expect(await values.next() == 5)
    }

    @Test(arguments: 1..<50) func aLivePropertyIsTheTests(_ number: Int) async throws {
      let own = LiveSettings()
      #expect(own.launches == 0 && globalLive.launches == 0 && globalLive.theme == nil)
      own.launches = number
      #expect(globalLive.launches == number, "the global one, used in the test")
      globalLive.theme = "theme \(number)"
      try globalLive.$launches.update { $0 += 1 }
      #expect(own.theme == "theme \(number)" && own.launches == number + 1)
      #expect(try VaultStorage.standard.load(Int.self, forKey: "test-live") == number + 1)
    }

    @Test func aSealedFolderNeedsFiles() {
      #expect(SealedFolder.standard === SealedFolder.standard)
      #expect {
        try SealedFolder.standard.write(Data("value".utf8), named: "test-file")
      } throws: {
        ($0 as? StorageError)?.code == .unsupported
      }
    }

    @Test func theErrorClosureIsTheTests() throws {
      VaultStorage.standard.errorClosure = { _ in }
      #expect(VaultStorage.standard.errorClosure != nil)
    }

    @Test func theErrorClosureOfAnotherTestIsNotSeen() {
      #expect(VaultStorage.standard.errorClosure == nil)
    }

    @Test func anAuthenticationTagIsOfTheTestsVault() throws {
      let tagged = VaultStorage(authenticationTag: Data("a".utf8))
      try tagged.save(1, forKey: "tagged")
      #expect(try VaultStorage.standard.listing().unreadable == 1)
      #expect(try VaultStorage(authenticationTag: Data("a".utf8)).load(forKey: "tagged") == 1)
    }

    @Test func aNamedKeyIsTheTestsOwn() throws {
      let key = try SymmetricKey.generate(key: "named")
      #expect(try SymmetricKey.generate(key: "named") == key)
    }

    @Test func whatNeedsAFileSaysThatThereIsNone() throws {
      try VaultStorage.standard.save(1, forKey: "k")
      let error = #expect(throws: StorageError.self) { try VaultStorage.standard.verify() }
      #expect(error?.code == .unsupported)
      #expect(error?.message.contains(".storage(.temporaryFolder)") == true)
    }

    @Test func whatTheKeyringRefusesIsRefusedInATestToo() {
      let error = #expect(throws: StorageError.self) {
        _ = try KeychainStorage(synchronizable: true)
      }
      #expect(error?.code == .unsupported)
    }
  }

  @Suite(.storage(.temporaryFolder)) struct InAFolder {
    @Test(arguments: 0..<4)
    func testsSideBySideHaveFilesOfTheirOwn(_ number: Int) throws {
      let settings = Settings()
      #expect(settings.count == 0)
      settings.fill(number)
      #expect(settings.holds(number) && global.holds(number))
      #expect(try VaultStorage.standard.verify().isSound)
    }
  }

  @Test func aTemporaryFolderIsThereForTheTestAndRemovedAfterIt() async throws {
    for storage in [TestStorage.inMemory, .temporaryFolder] {
      let folder = try storage.run {
        Settings().fill(1)
        let folder = TestStores.current?.folder
        #expect(
          folder.map { FileManager.default.fileExists(atPath: $0 + "/default.vault") } ?? true)
        return folder
      }
      let other = try await storage.run {
        #expect(Settings().count == 0)
        await Task.yield()
        Settings().fill(3)
        return TestStores.current?.folder
      }
      #expect((folder == nil) == (storage == .inMemory) && (folder == nil || folder != other))
      for path in [folder, other].compactMap({ $0 }) {
        #expect(!FileManager.default.fileExists(atPath: path))
      }
    }
  }

  @Test(.enabled(if: isPrivate, "run by make test, which gives it folders of its own"))
  func nothingReachesTheStoragesOfTheProgram() throws {
    for storage in [TestStorage.inMemory, .temporaryFolder] {
      try storage.run {
        Settings().fill(1)
        global.fill(2)
        _ = try SymmetricKey.generate(key: "named")
      }
    }
    let path = try VaultStorage.standardPath(
      applicationID: SecureStorage.configuration.applicationID)
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(try !UserDefaultsStorage.standard.contains("test-theme"))
    #expect(try !SingletonStorage.standard.contains("test-attempts"))
  }

  @Test func outsideOfATestItIsTheProgramsAgain() throws {
    let program = SingletonStorage.standard
    try TestStorage.inMemory.run {
      #expect(SingletonStorage.standard !== program)
      struct Failure: Error {}
      #expect(throws: Failure.self) { try TestStorage.temporaryFolder.run { throw Failure() } }
    }
    #expect(SingletonStorage.standard === program)
  }
}

private final class Case: StorageTestCase {
  // Written by one thread, and read when that has ended.
  nonisolated(unsafe) static var seen: [Int] = []

  func count() { unsafe Self.seen.append(note()) }

  func countLater() async {
    await Task.yield()
    unsafe Self.seen.append(note())
    let child = await Task { global.holds(4) }.value
    unsafe Self.seen.append(child ? 0 : 100)
  }

  /// How many values there were; then all have one.
  private func note() -> Int {
    let settings = Settings()
    defer { settings.fill(4) }
    return settings.count + global.count
  }
}

// XCTest knows one running test case alone.
@Suite(.serialized) struct StorageTestCaseTests {
  @Test func eachTestOfATestCaseHasStoragesOfItsOwn() async {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        let bodies: [(Case) throws -> Void] = [
          { $0.count() }, { $0.count() }, { try asyncTest(Case.countLater)($0)() },
        ]
        for body in bodies {
          let testCase = Case(name: "body") { testCase in
            guard let testCase = testCase as? Case else { return XCTFail("another test case") }
            try body(testCase)
          }
          testCase.run()
        }
        continuation.resume()
      }
    }
    #expect(unsafe Case.seen == [0, 0, 0, 0])
  }
}
