import Foundation
import LocalData
import Testing

/// Entries of one shared store are not those of another that has the same key.
@Suite struct BoundSyncTests {
  private let shared = SymmetricKey(data: Data(repeating: 3, count: 32))
  private let key = StoredKey<String>(
    "role", in: .userDefaults, owner: "Tests", description: "A value.", syncPolicy: .manual)
  private let name = "localdata:userDefaults/role"
  private let id = "store:localdata"
  private let folders = (TestFolder(), TestFolder())

  private func machine(
    _ folder: TestFolder, _ transport: MemorySyncTransport
  ) throws -> StorageRouter {
    let router = folder.router()
    try router.connect(transport, key: shared)
    return router
  }

  /// Two stores of one key: the second machine knows only the second store.
  private func twoStores() async throws -> (MemorySyncTransport, MemorySyncTransport) {
    let (admins, users) = (MemorySyncTransport(id: "admins"), MemorySyncTransport(id: "users"))
    let first = try machine(folders.0, admins)
    try await first.set("admin", for: key)
    for value in ["1", "2", "admin"] {
      try await first.set(value, for: key)
      _ = try await first.sync(key)
    }
    let second = try machine(folders.1, users)
    try await second.set("user", for: key)
    _ = try await second.sync(key)
    return (admins, users)
  }

  @Test func anEntryOfAnotherStoreIsDamaged() async throws {
    let (admins, users) = try await twoStores()
    users.plant(admins.read(name), name)
    let second = try machine(folders.1, users)
    #expect(await code { _ = try await second.sync(key) } == .damaged)
    #expect(try await second.get(key) == "user")
    // A machine that has never seen the key there takes it no more than the others.
    let third = TestFolder()
    let router = try machine(third, users)
    #expect(await code { _ = try await router.sync(key) } == .damaged)
    #expect(try await router.get(key) == nil)
  }

  @Test func aStoreThatIsPutInThePlaceOfAnotherIsRefused() async throws {
    let (admins, users) = try await twoStores()
    for each in admins.names { users.plant(admins.read(each), each) }
    let second = try machine(folders.1, users)
    let error = try #require(await error { _ = try await second.sync(key) })
    #expect(error.code == .damaged && error.message.contains("users"))
    #expect(try await second.get(key) == "user")
    // A machine that knows both names sees that one store is the other.
    let first = try machine(folders.0, users)
    #expect(await code { _ = try await first.sync(key) } == .conflict)
    #expect(try await first.get(key) == "admin")
  }

  @Test func aStoreThatLostItsIdGetsItAgain() async throws {
    let (_, users) = try await twoStores()
    let before = try #require(users.read(id))
    for each in users.names { users.plant(nil, each) }
    let second = try machine(folders.1, users)
    #expect(try await second.sync(key).kind == .sent)
    #expect(users.read(id) == before)
    let third = TestFolder()
    let router = try machine(third, users)
    #expect(try await router.sync(key).kind == .received)
    #expect(try await router.get(key) == "user")
  }

  @Test(arguments: [Data(), Data("hello".utf8), Data("SPSI".utf8) + Data(repeating: 1, count: 16)])
  func anIdThatIsNoneIsDamaged(_ bytes: Data) async throws {
    let (_, users) = try await twoStores()
    users.plant(bytes, id)
    let second = try machine(folders.1, users)
    try await second.set("changed", for: key)
    #expect(await code { _ = try await second.sync(key) } == .damaged)
    #expect(users.read(id) == bytes)
  }

  @Test func twoMachinesThatBeginAtOnceAgreeOnOneId() async throws {
    let transport = MemorySyncTransport()
    let routers = [try machine(folders.0, transport), try machine(folders.1, transport)]
    let key = key
    for (index, router) in routers.enumerated() { try await router.set("\(index)", for: key) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for router in routers {
        group.addTask { _ = try await router.sync(key) { _ in .takeShared } }
      }
      try await group.waitForAll()
    }
    for router in routers { _ = try await router.sync(key) { _ in .takeShared } }
    let values = (try await routers[0].get(key), try await routers[1].get(key))
    #expect(values.0 == values.1 && values.0 != nil)
  }
}
