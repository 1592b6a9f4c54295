import Foundation
import LocalData
import Testing
import VaultBackend

/// Two machines with stores of their own, and what they share.
private struct Machines {
  let folders = (TestFolder(), TestFolder())
  let transport = MemorySyncTransport()
  let one: StorageRouter
  let two: StorageRouter
  static let shared = SymmetricKey(data: Data(repeating: 3, count: 32))

  init(tags: Set<String> = []) throws {
    one = folders.0.router()
    two = folders.1.router(
      configuration: StorageConfiguration(keychain: .vault, machineTags: tags))
    for router in [one, two] { try router.connect(transport, key: Self.shared) }
  }
}

private func synced(
  _ name: String = "note", _ domain: StorageDomain = .userDefaults,
  _ security: SecurityPolicy = .recommended, _ policy: SyncPolicy = .manual,
  for availability: PlatformAvailability = .all
) -> StoredKey<String> {
  StoredKey(
    name, in: domain, security: security, owner: "Tests", description: "A synced value.",
    availability: availability, syncPolicy: policy)
}

@Suite struct SyncTests {
  private let key = synced()

  @Test(arguments: Combination.sealed + Combination.plain)
  func aValueAndItsRemovalReachTheOtherMachine(_ combination: Combination) async throws {
    let machines = try Machines()
    let key = synced("note", combination.domain, combination.security)
    if case .keychain(.alwaysThisDeviceOnly, _) = combination.security { return }
    try await machines.one.set("planted-marker", for: key)
    #expect(try await machines.one.sync(key).kind == .sent)
    #expect(try await machines.one.sync(key).kind == .upToDate)
    #expect(try await machines.two.sync(key).kind == .received)
    #expect(try await machines.two.get(key) == "planted-marker")
    let bytes = try #require(machines.transport.read(machines.transport.names[0]))
    let isReadable = bytes.range(of: Data("planted-marker".utf8)) != nil
    #expect(isReadable == (combination.security == .none))
    try await machines.two.remove(key)
    #expect(try await machines.two.sync(key).kind == .sent)
    #expect(try await machines.one.sync(key).kind == .received)
    #expect(try await machines.one.get(key) == nil)
  }

  @Test func bothChangedIsAConflictThatLosesNothing() async throws {
    let machines = try Machines()
    try await machines.one.set("one", for: key)
    try await machines.two.set("two", for: key)
    _ = try await machines.one.sync(key)
    for _ in 0..<2 {
      guard case .conflict(let conflict) = try await machines.two.sync(key) else {
        Issue.record("no conflict")
        return
      }
      #expect(conflict.local == "two" && conflict.shared == "one")
      #expect(!"\(conflict)".contains("two"))
    }
    #expect(try await machines.two.get(key) == "two")
    let outcome = try await machines.two.sync(key) { conflict in
      .use("\(conflict.shared ?? "")+\(conflict.local ?? "")")
    }
    #expect(outcome.kind == .sent)
    #expect(try await machines.one.sync(key).kind == .received)
    #expect(try await machines.one.get(key) == "one+two")
    #expect(try await machines.two.get(key) == "one+two")
  }

  @Test func theApplicationMayKeepOrTakeOrLeave() async throws {
    let machines = try Machines()
    try await machines.one.set("one", for: key)
    try await machines.two.set("two", for: key)
    _ = try await machines.one.sync(key)
    #expect(try await machines.two.sync(key) { _ in .leave }.kind == .conflict)
    #expect(try await machines.two.sync(key) { _ in .keepLocal }.kind == .sent)
    try await machines.one.set("three", for: key)
    #expect(try await machines.one.sync(key) { _ in .takeShared }.kind == .received)
    #expect(try await machines.one.get(key) == "two")
    // A removal against a change is a conflict as well.
    try await machines.one.remove(key)
    _ = try await machines.one.sync(key)
    try await machines.two.set("four", for: key)
    #expect(try await machines.two.sync(key).kind == .conflict)
    #expect(try await machines.two.get(key) == "four")
  }

  @Test func whatMayNotLeaveIsRefused() async throws {
    let machines = try Machines()
    let stays = synced(for: .all)
    let never = synced("never", .userDefaults, .recommended, .never)
    #expect(await code { _ = try await machines.one.sync(never) } == .unsupported)
    let device = synced(
      "device", .keychain(service: "s"), .keychain(accessibility: .alwaysThisDeviceOnly))
    #expect(await code { _ = try await machines.one.sync(device) } == .unsupported)
    let elsewhere = synced("x", for: .machines(["server"]))
    #expect(await code { _ = try await machines.one.sync(elsewhere) } == .unavailable)
    #expect(
      await code { _ = try await machines.one.sync(synced("x", for: .watchOnly)) } == .unavailable)
    machines.one.disconnect()
    #expect(await code { _ = try await machines.one.sync(stays) } == .unavailable)
    #expect(await code { _ = try await machines.one.syncAll() } == .unavailable)
    try machines.one.connect(machines.transport)
    try await machines.one.set("1", for: stays)
    #expect(await code { _ = try await machines.one.sync(stays) } == .keyUnavailable)
    #expect(
      await code {
        try machines.one.connect(machines.transport, key: SymmetricKey(size: .bits128))
      } == .invalid)
    #expect(machines.transport.names.isEmpty)
  }

  @Test func damagedForeignAndOlderEntriesChangeNothingHere() async throws {
    let machines = try Machines()
    try await machines.one.set("1", for: key)
    _ = try await machines.one.sync(key)
    let name = machines.transport.names[0]
    let first = try #require(machines.transport.read(name))
    _ = try await machines.two.sync(key)
    try await machines.one.set("2", for: key)
    _ = try await machines.one.sync(key)
    let second = try #require(machines.transport.read(name))
    let codes: [StorageError.Code] = [.damaged, .wrongKey, .unsupported, .typeMismatch]
    for offset in second.indices {
      var altered = second
      altered[offset] ^= 1
      machines.transport.plant(altered, name)
      let error = await error { _ = try await machines.two.sync(key) }
      #expect(error.map { codes.contains($0.code) && $0.key == "note" } == true, "byte \(offset)")
    }
    for bytes in [Data(), Data("hello".utf8), second.prefix(20), SyncTests.plain] {
      machines.transport.plant(bytes, name)
      #expect(await code { _ = try await machines.two.sync(key) } == .damaged)
    }
    // Of another key, under the same shared key.
    let other = synced("other")
    try await machines.one.set("3", for: other)
    _ = try await machines.one.sync(other)
    let otherName = try #require(machines.transport.names.first { $0 != name })
    machines.transport.plant(machines.transport.read(otherName), name)
    #expect(await code { _ = try await machines.two.sync(key) } == .damaged)
    #expect(try await machines.two.get(key) == "1")
    machines.transport.plant(second, name)
    #expect(try await machines.two.sync(key).kind == .received)
    machines.transport.plant(first, name)
    #expect(await code { _ = try await machines.two.sync(key) } == .damaged)
    #expect(try await machines.two.get(key) == "2")
  }

  /// A readable entry, which is none of a sealed key.
  private static let plain =
    Data("SPSY".utf8) + Data([1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9]) + Data("\"forged\"".utf8)

  @Test func anotherSharedKeyOpensNothing() async throws {
    let machines = try Machines()
    try await machines.one.set("1", for: key)
    _ = try await machines.one.sync(key)
    try machines.two.connect(machines.transport, key: SymmetricKey(size: .bits256))
    #expect(await code { _ = try await machines.two.sync(key) } == .wrongKey)
    #expect(try await machines.two.get(key) == nil)
  }

  @Test func aLostSharedStoreIsFilledAgain() async throws {
    let machines = try Machines()
    try await machines.one.set("1", for: key)
    _ = try await machines.one.sync(key)
    machines.transport.plant(nil, machines.transport.names[0])
    #expect(try await machines.one.sync(key).kind == .sent)
    #expect(try await machines.two.sync(key).kind == .received)
  }

  @Test func allAtOnceConflictsAreTold() async throws {
    struct Keys {
      let a = synced("a")
      let b = synced("b", .fileSystem(directory: .documents), .none)
      let never = synced("never", .userDefaults, .recommended, .never)
      let server = synced("server", for: .machines(["server"]))
    }
    let machines = try Machines()
    for router in [machines.one, machines.two] { try router.registerKeys(Keys()) }
    try await machines.one.set("1", for: Keys().a)
    try await machines.one.set("1", for: Keys().b)
    try await machines.two.set("2", for: Keys().b)
    #expect(try await machines.one.syncAll().entries.map(\.outcome) == [.sent, .sent])
    let report = try await machines.two.syncAll()
    #expect(report.entries.map(\.outcome) == [.received, .conflict])
    #expect(report.conflicts.map(\.key) == ["fileSystem(documents)/b"])
  }

  @Test func twoRoutersSyncThroughOneSharedVault() async throws {
    let place = TestFolder()
    let folders = (TestFolder(), TestFolder())
    let routers = [folders.0.router(), folders.1.router()]
    for router in routers {
      let vault = VaultStorage(
        at: place.url.appendingPathComponent("shared.vault"), keySource: .key(TestFolder.key))
      try router.connect(StorageSyncTransport(vault, id: "team"), key: Machines.shared)
    }
    let counter = StoredKey<Int>(
      "count", in: .userDefaults, owner: "Tests", description: "A counter.", syncPolicy: .manual)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for router in routers {
        group.addTask {
          for _ in 0..<5 {
            try await router.update(counter) { $0 = ($0 ?? 0) + 1 }
            _ = try await router.sync(counter) { conflict in
              .use(max(conflict.local ?? 0, conflict.shared ?? 0))
            }
          }
        }
      }
      try await group.waitForAll()
    }
    for router in routers + routers {
      _ = try await router.sync(counter) { .use(max($0.local ?? 0, $0.shared ?? 0)) }
    }
    let (one, two) = (try await routers[0].get(counter), try await routers[1].get(counter))
    #expect(one == two && one ?? 0 >= 5)
  }

  @Test func theRegisteredDeclarationSaysWhetherAValueIsSent() async throws {
    struct Keys { let note = synced("note", .userDefaults, .recommended, .never) }
    let machines = try Machines()
    try machines.one.registerKeys(Keys())
    try await machines.one.set("1", for: Keys().note)
    #expect(await code { _ = try await machines.one.sync(Keys().note) } == .unsupported)
    for policy in [SyncPolicy.manual, .automaticSmall] {
      let other = synced("note", .userDefaults, .recommended, policy)
      #expect(await code { _ = try await machines.one.sync(other) } == .unregisteredKey)
      #expect(await code { _ = try await machines.one.get(other) } == .unregisteredKey)
      #expect(await code { try await machines.one.set("2", for: other) } == .unregisteredKey)
    }
    let elsewhere = synced("note", .userDefaults, .recommended, .never, for: .phoneOnly)
    #expect(await code { _ = try await machines.one.get(elsewhere) } == .unregisteredKey)
    #expect(machines.transport.names.isEmpty)
    #expect(try await machines.one.get(Keys().note) == "1")
  }

  @Test func aValueThatAnotherProcessMovedIsNotTakenForARemoval() async throws {
    let machines = try Machines()
    let file = synced("file", .fileSystem(directory: .documents))
    try await machines.one.set("1", for: file)
    #expect(try await machines.one.sync(file).kind == .sent)
    let other = machines.folders.0.router()
    await other.updateFileStorageConfiguration(FileStorageConfiguration(subDirectory: "Sub"))
    try await other.migrate(
      for: file, from: FormerConfiguration(files: FileStorageConfiguration()))
    #expect(await code { _ = try await machines.one.sync(file) } == .configurationConflict)
    #expect(try await machines.two.sync(file).kind == .received)
    #expect(try await machines.two.get(file) == "1")
  }
}
