import CryptoCore
import Foundation
import KeyringTesting
import StorageCore
import Testing

@testable import KeyringBackend

/// An async call that reaches the bus.
private struct AsyncCall: Sendable {
  let name: String
  let make: @Sendable (FakeDesktop) async throws -> Void

  init(_ name: String, _ make: @escaping @Sendable (FakeDesktop) async throws -> Void) {
    self.name = name
    self.make = make
  }

  /// Long enough to be cancelled before, and short enough to see a test that fails.
  private static let access = KeyringAccess(deadline: .seconds(600), prompts: .never)

  /// A store of its own for each call: one that opens is waited for by the others.
  private static func newStore(_ desktop: FakeDesktop) -> KeychainStorage {
    let service = Desktop.freshService()
    return KeychainStorage(
      accessGroup: nil, synchronizable: false, accessible: .whenUnlocked, keySource: nil,
      access: access, client: desktop.client
    ) { service }
  }

  private static func storage(
    _ name: String, _ make: @escaping @Sendable (KeychainStorage) async throws -> Void
  ) -> AsyncCall {
    AsyncCall(name) { try await make(newStore($0)) }
  }

  private static func keys(
    _ name: String, _ make: @escaping @Sendable (KeyAdministration) async throws -> Void
  ) -> AsyncCall {
    storage("keyAdministration.\(name)") { try await make($0.keyAdministration) }
  }

  private static func property(
    _ name: String, _ make: @escaping @Sendable (Keychain<Int>) async throws -> Void
  ) -> AsyncCall {
    storage("$property.\(name)") { try await make(Keychain<Int>($0, "key").projectedValue) }
  }

  private static func plain(
    _ name: String, _ make: @escaping @Sendable (Keyring) async throws -> Void
  ) -> AsyncCall {
    AsyncCall(name) { try await make($0.keyring("service", access: access)) }
  }

  private static func container(
    _ name: String, _ make: @escaping @Sendable (Keyring.Container) async throws -> Void
  ) -> AsyncCall {
    plain("container.\(name)") { try await make($0.container(for: "account")) }
  }

  private static func credential(
    _ name: String, _ make: @escaping @Sendable (Credential<Int>) async throws -> Void
  ) -> AsyncCall {
    AsyncCall("$credential.\(name)") { desktop in
      try await make(
        Credential<Int>(
          core: CredentialCore(
            .service("service", label: nil), account: nil, group: nil, access: access,
            client: desktop.client, errorClosure: nil), coding: nil))
    }
  }

  private static func query(
    _ name: String, _ make: @escaping @Sendable (KeyringOptions) async throws -> Void
  ) -> AsyncCall {
    AsyncCall("Keyring.\(name)") { desktop in
      // The client of an address, since these have none of their own.
      var access = access
      access.bus = desktop.bus.address
      try await make(KeyringOptions.matchFirst.union([.access(access)]))
    }
  }

  /// A state is no error, but may hold one.
  private static func result<Value>(_ state: PropertyState<Value>) throws {
    if case .failed(let error) = state { throw error }
  }

  private static let storages: [AsyncCall] = [
    storage("loadAsync") { _ = try await $0.loadAsync(Int.self, forKey: "key") },
    storage("saveAsync") { try await $0.saveAsync(1, forKey: "key") },
    storage("loadAsync(decodable:)") {
      _ = try await $0.loadAsync(decodable: [Int].self, forKey: "key")
    },
    storage("saveAsync(encodable:)") { try await $0.saveAsync(encodable: [1], forKey: "key") },
    storage("saveIfAbsentAsync") { try await $0.saveIfAbsentAsync(1, forKey: "key") },
    storage("updateAsync") { try await $0.updateAsync(Int.self, forKey: "key") { $0 = 1 } },
    storage("deleteAsync") { try await $0.deleteAsync(forKey: "key") },
    storage("containsAsync") { _ = try await $0.containsAsync("key") },
    storage("keysAsync") { _ = try await $0.keysAsync() },
    storage("listingAsync") { _ = try await $0.listingAsync() },
    storage("summaryAsync") { _ = try await $0.summaryAsync(forKey: "key") },
    storage("transactionAsync") { try await $0.transactionAsync { try $0.delete(forKey: "key") } },
    storage("saveAllAsync") { try await $0.saveAllAsync(["key": 1]) },
    storage("removeAllAsync") { try await $0.removeAllAsync() },
    storage("openAsync") { try await $0.openAsync() },
    AsyncCall("migrateAsync") { desktop in
      try await SecureStorage.migrateAsync(from: newStore(desktop), to: newStore(desktop))
    },
  ]

  private static let administration: [AsyncCall] = [
    keys("slotsAsync") { _ = try await $0.slotsAsync() },
    keys("ownSlotAsync") { _ = try await $0.ownSlotAsync() },
    keys("addAsync") { try await $0.addAsync(.key(try .random())) },
    keys("changeAsync") { try await $0.changeAsync(to: .key(try .random())) },
    keys("removeAsync") { try await $0.removeAsync(1) },
    keys("exportRecoveryKeyAsync") { _ = try await $0.exportRecoveryKeyAsync() },
    keys("rotateDataKeyAsync") { _ = try await $0.rotateDataKeyAsync() },
    keys("replaceRootKeyAsync") {
      _ = try await $0.replaceRootKeyAsync(openedBy: .key(try .random()))
    },
    keys("rotateAsync") { _ = try await $0.rotateAsync() },
    keys("reencryptAsync") { _ = try await $0.reencryptAsync() },
  ]

  private static let properties: [AsyncCall] = [
    property("loadAsync") { _ = try await $0.loadAsync() },
    property("saveAsync") { try await $0.saveAsync(1) },
    property("updateAsync") { try await $0.updateAsync { $0 = 1 } },
    property("removeAsync") { try await $0.removeAsync() },
    property("stateAsync") { try result(await $0.stateAsync()) },
    credential("loadAsync") { _ = try await $0.loadAsync() },
    credential("saveAsync") { try await $0.saveAsync(1) },
    credential("removeAsync") { try await $0.removeAsync() },
    credential("stateAsync") { try result(await $0.stateAsync()) },
    credential("itemAsync") { _ = try await $0.itemAsync() },
    credential("itemsAsync") { _ = try await $0.itemsAsync() },
    credential("updateAsync") { try await $0.updateAsync(.comment("hello")) },
    credential("deleteAsync") { try await $0.deleteAsync() },
    credential("accountAsync") { _ = try await $0.accountAsync() },
    credential("setAccountAsync") { try await $0.setAccountAsync("me") },
  ]

  private static let secrets: [AsyncCall] = [
    plain("keysAsync") { _ = try await $0.keysAsync() },
    plain("containersAsync") { _ = try await $0.containersAsync() },
    plain("emptyAsync") { try await $0.emptyAsync() },
    container("storeAsync") { try await $0.storeAsync(1) },
    container("fetchAsync") { _ = try await $0.fetchAsync(Int.self) },
    container("isEmptyAsync") { _ = try await $0.isEmptyAsync() },
    container("dropAsync") { _ = try await $0.dropAsync(Int.self) },
    container("emptyAsync") { try await $0.emptyAsync() },
    container("copyAsync") { try await $0.copyAsync(to: $0.keyring.container(for: "other")) },
    container("moveAsync") { try await $0.moveAsync(to: $0.keyring.container(for: "other")) },
    query("searchAsync") { _ = try await Keyring.searchAsync(for: [.service("s")], with: $0) },
    query("modifyAsync") {
      try await Keyring.modifyAsync([.comment("c")], for: Query(options: $0))
    },
    query("removeAsync") { try await Keyring.removeAsync(Query(options: $0)) },
    query("readAsync") { _ = try await Keyring.readAsync(["service": "s"], options: $0) },
    query("updateAsync") {
      try await Keyring.updateAsync([.comment("c")], using: ["service": "s"], options: $0)
    },
    query("deleteAsync") { try await Keyring.deleteAsync(["service": "s"], options: $0) },
    AsyncCall("KeyringReport.makeAsync") { desktop in
      let report = await KeyringReport.makeAsync(
        keys: ["key"], deadline: access.deadline, client: desktop.client)
      if let error = report.findings.last?.error { throw error }
    },
  ]

  private struct Query: KeyringQueryable {
    let attributes: KeyringAttributes = [.service("s")]
    let options: KeyringOptions
  }

  static let all = storages + administration + properties + secrets
}

@Suite struct CooperationTests {
  /// Of more calls than Swift concurrency has threads; it goes on for others, and so for who cancels
  /// them: a call that held such a thread would end by its deadline.
  @Test(.timeLimit(.minutes(30))) func callsThatHangHoldNoThreadOfSwiftConcurrency() async throws {
    let desktop = try FakeDesktop(.init().with(.hangs, in: "SearchItems"))
    // Dispatch has at most 255 threads.
    let count = min(4 * ProcessInfo.processInfo.activeProcessorCount, 128)
    for call in AsyncCall.all {
      desktop.service.forgetCalls()
      let ends = await withTaskGroup(of: StorageError.Code?.self) { group in
        for _ in 0..<count { group.addTask { await code { try await call.make(desktop) } } }
        while desktop.service.callCount("SearchItems") < count {
          try? await Task.sleep(for: .milliseconds(1))
        }
        await withTaskGroup { others in
          for _ in 0..<count { others.addTask { await Task.yield() } }
        }
        group.cancelAll()
        return await group.reduce(into: []) { $0.append($1) }
      }
      try #require(ends == Array(repeating: .cancelled, count: count), "\(call.name)")
    }
  }

  @Test func theAsyncFormsOfKeysAndStatesDoTheSame() async throws {
    let desktop = try Desktop()
    let service = Desktop.freshService()
    let storage = desktop.storage(service: service)
    try await storage.saveAsync(encodable: ["a", "b"], forKey: "list")
    #expect(try await storage.loadAsync(decodable: [String].self, forKey: "list") == ["a", "b"])
    #expect(try await storage.summaryAsync(forKey: "list") == storage.summary(forKey: "list"))
    try await storage.transactionAsync { try $0.delete(forKey: "list") }
    try await storage.saveAllAsync(["number": 1])
    #expect(try await storage.listingAsync() == storage.listing())
    let property = Keychain<Int>(storage, "number").projectedValue
    #expect(await property.stateAsync() == .value(1))

    let keys = storage.keyAdministration
    let slot = try await keys.addAsync(.key(try .random()))
    #expect(try await keys.slotsAsync().contains(slot))
    #expect(try await keys.ownSlotAsync()?.id == 1)
    try await keys.removeAsync(slot.id)
    #expect(try await keys.slotsAsync().count == 1)
    let recovery = try await keys.exportRecoveryKeyAsync()
    #expect(try await keys.rotateDataKeyAsync().reencrypted == 1)
    #expect(try await keys.reencryptAsync().remaining == 0)
    #expect(
      try desktop.storage(service: service, keySource: .recovery(recovery))
        .load(Int.self, forKey: "number") == 1)
    try await keys.changeAsync(to: .key(try .random()))
    _ = try await keys.replaceRootKeyAsync(openedBy: .key(try .random()))
    #expect(try await keys.slotsAsync().map(\.kind) == ["key"])
    #expect(try await keys.rotateAsync().reencrypted == 1)
    #expect(await property.stateAsync() == .value(1))

    let credential = Credential<String>.service("github", on: desktop)
    #expect(await credential.stateAsync() == .absent)
    try await credential.saveAsync("token")
    #expect(await credential.stateAsync() == .value("token"))
    let report = await KeyringReport.makeAsync(
      keys: ["none"], deadline: .seconds(30), client: desktop.client)
    #expect(report.findings.map(\.error?.code) == [nil, nil, nil, .keyUnavailable])
  }

}

/// The code that `body` throws, or nil when it throws none.
private func code(_ body: () async throws -> Void) async -> StorageError.Code? {
  do {
    try await body()
    return nil
  } catch {
    return (error as? StorageError)?.code ?? .io
  }
}
