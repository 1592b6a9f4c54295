import Foundation
import SecurePropertyStorage
import StorageTesting
import Testing

/// An object that outlives tests, and keeps the storage of the one in which it was made.
private struct Service: Sendable {
  let storage: DelegatedStorage
  @Store<String, DelegatedStorage> var token: String?

  init(_ storage: DelegatedStorage) {
    self.storage = storage
    _token = Store(storage, "captured-token")
  }
}

/// Properties of the standard storages, which follow the tests.
private struct Following {
  @Vault("captured-token") var token: String?
  @Singleton("captured-number") var number: Int?
  @LiveVault("captured-live") var live: String?
}

@Suite struct CapturedStorageTests {
  private static let families: [@Sendable () -> DelegatedStorage] = [
    { VaultStorage.standard }, { UserDefaultsStorage.standard }, { SingletonStorage.standard },
    { KeychainStorage.standard }, { VaultStorage(authenticationTag: Data("tag".utf8)) },
    { UserDefaultsStorage(authenticationTag: nil) },
  ]

  private func isRefused(
    _ body: () throws -> Void, _ place: SourceLocation = #_sourceLocation
  ) {
    let error = #expect(throws: StorageError.self, sourceLocation: place) { try body() }
    #expect(error?.code == .invalid, sourceLocation: place)
    let text = error?.message ?? ""
    #expect(
      text.contains("belongs to another test") && text.contains(".injecting {}"),
      sourceLocation: place)
  }

  private func refusesAll(
    _ service: Service, _ place: SourceLocation = #_sourceLocation
  ) {
    let storage = service.storage
    isRefused({ _ = try storage.load(String.self, forKey: "captured-token") }, place)
    isRefused({ try storage.save("other", forKey: "captured-token") }, place)
    isRefused({ try storage.delete(forKey: "captured-token") }, place)
    isRefused({ _ = try storage.contains("captured-token") }, place)
    isRefused({ _ = try storage.keys() }, place)
    isRefused({ try storage.removeAll() }, place)
    isRefused({ try storage.update(String.self, forKey: "captured-token") { $0 = "x" } }, place)
    isRefused({ _ = try service.$token.load() }, place)
    isRefused({ try service.$token.save("other") }, place)
    isRefused({ try storage.open() }, place)
    #expect(service.token == nil, sourceLocation: place)
    guard case .failed(let error) = service.$token.state else {
      Issue.record("the state is no failure", sourceLocation: place)
      return
    }
    #expect(error.code == .invalid, sourceLocation: place)
  }

  @Test(arguments: [TestStorage.inMemory, .temporaryFolder], families.indices)
  func theNextTestAndWhatFollowsItAreRefused(_ kind: TestStorage, _ family: Int) throws {
    let make = Self.families[family]
    let service = try kind.run {
      let service = Service(make())
      service.storage.errorClosure = { _ in }
      try service.$token.save("of the first test")
      #expect(service.token == "of the first test")
      return service
    }
    try kind.run { () throws in
      refusesAll(service)
      #expect(try make().load(String.self, forKey: "captured-token") == nil)
    }
    refusesAll(service)
  }

  @Test func aRefusalDoesNoHarmToTheTestThatOwnsTheStorage() async throws {
    try await TestStorage.inMemory.run {
      let service = Service(VaultStorage.standard)
      service.storage.errorClosure = { _ in }
      try service.$token.save("kept")
      @Live(VaultStorage.standard, "captured-live") var live: String?
      live = "live"
      let own = Live<String?, VaultStorage>(VaultStorage.standard, "captured-live")
      let other = Task.detached {
        try TestStorage.inMemory.run {
          refusesAll(service)
          #expect(own.wrappedValue == nil)
          isRefused { _ = try own.load() }
          isRefused { try own.save("other") }
        }
      }
      try await other.value
      #expect(service.token == "kept" && live == "live" && own.wrappedValue == "live")
      // A failed read would make the setter refuse.
      service.token = "changed"
      live = "changed"
      #expect(try service.$token.load() == "changed" && own.wrappedValue == "changed")
    }
  }

  @Test func aPropertyOfTheStandardStorageFollowsTheTestAndNeverGivesTheLastOnesValue() throws {
    let following = try TestStorage.inMemory.run {
      let following = Following()
      VaultStorage.standard.errorClosure = { _ in }
      (following.token, following.number, following.live) = ("first", 1, "first")
      #expect(following.live == "first")
      return following
    }
    try TestStorage.inMemory.run {
      #expect(following.token == nil && following.number == nil && following.live == nil)
      (following.token, following.live) = ("second", "second")
      #expect(following.token == "second" && following.live == "second")
    }
    // Outside of tests, these properties would be the program's if the program had made them.
    isRefused { _ = try following.$token.load() }
    isRefused { _ = try following.$number.load() }
    isRefused { _ = try following.$live.load() }
    #expect(following.token == nil && following.live == nil)
  }

  @Test func whatATestStartsMayUseItsStorage() async throws {
    let (task, storage) = try await TestStorage.inMemory.run {
      let service = Service(SingletonStorage.standard)
      try service.$token.save("kept")
      let isSeen = await Task.detached { service.token }.value
      #expect(isSeen == "kept", "a detached task, while the test runs")
      try TestStorage.temporaryFolder.run {
        #expect(service.token == "kept", "a test inside of the test")
      }
      let (gate, open) = AsyncStream<Void>.makeStream()
      let task = Task {
        for await _ in gate { break }
        return service.token
      }
      return ((task, open), service.storage)
    }
    storage.errorClosure = { _ in }
    task.1.yield()
    #expect(await task.0.value == "kept", "a task that outlives the test")
    isRefused { _ = try storage.keys() }
  }

  @Test func aRegisteredSingletonIsRefusedAndOneOfTheTestIsNot() throws {
    try InjectStorage.withOverrides {
      @Register var service = { Service(VaultStorage.standard) }
      @UnwrappedInject var injected: Service
      let current = $injected
      try TestStorage.inMemory.run { try current.resolve().$token.save("first") }
      try TestStorage.inMemory.run { () throws in
        isRefused { _ = try current.resolve().$token.load() }
        InjectStorage.standard.reset()
        #expect(try current.resolve().$token.load() == nil)
      }
    }
  }

  @Test func aStorageOfAnExplicitPlaceIsAnybodys() throws {
    let storage = try TestStorage.inMemory.run {
      let storage = InMemoryStorage()
      try storage.save(1, forKey: "k")
      return storage
    }
    try TestStorage.inMemory.run { () throws in
      #expect(try storage.load(Int.self, forKey: "k") == 1)
    }
  }

  @Test func aFolderIsRefusedToo() throws {
    let folder = try TestStorage.temporaryFolder.run {
      try SealedFolder.standard.write(Data("value".utf8), named: "captured")
      return SealedFolder.standard
    }
    try TestStorage.temporaryFolder.run {
      isRefused { _ = try folder.read(named: "captured") }
      isRefused { try folder.write(Data("x".utf8), named: "captured") }
      isRefused { _ = try folder.names() }
    }
  }
}
