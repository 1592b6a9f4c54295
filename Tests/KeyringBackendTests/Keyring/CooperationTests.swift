import CryptoCore
import Foundation
import KeyringTesting
import StorageCore
import Testing

@testable import KeyringBackend

/// An async call that reaches the bus, of those that are more than a body of `async(_:)`.
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

  private static func property(
    _ name: String, _ make: @escaping @Sendable (Keychain<Int>) async throws -> Void
  ) -> AsyncCall {
    storage("$property.\(name)") { try await make(Keychain<Int>($0, "key").projectedValue) }
  }

  private static func credential(
    _ name: String, _ make: @escaping @Sendable (Credential<Int>) async throws -> Void
  ) -> AsyncCall {
    AsyncCall("$credential.\(name)") { desktop in
      try await make(
        Credential<Int>(
          SharedCredential(
            .service("service", label: nil), account: nil, group: nil, access: access,
            client: desktop.client, errorClosure: nil)))
    }
  }

  private static let storages: [AsyncCall] = [
    storage("loadAsync") { _ = try await $0.loadAsync(Int.self, forKey: "key") },
    storage("saveAsync") { try await $0.saveAsync(1, forKey: "key") },
    storage("loadAsync(decodable:)") {
      _ = try await $0.loadAsync(decodable: [Int].self, forKey: "key")
    },
    storage("saveAsync(encodable:)") { try await $0.saveAsync(encodable: [1], forKey: "key") },
    storage("updateAsync") { try await $0.updateAsync(Int.self, forKey: "key") { $0 = 1 } },
    storage("deleteAsync") { try await $0.deleteAsync(forKey: "key") },
  ]

  private static let properties: [AsyncCall] = [
    property("loadAsync") { _ = try await $0.loadAsync() },
    property("saveAsync") { try await $0.saveAsync(1) },
    property("updateAsync") { try await $0.updateAsync { $0 = 1 } },
    property("removeAsync") { try await $0.removeAsync() },
    credential("loadAsync") { _ = try await $0.loadAsync() },
    credential("saveAsync") { try await $0.saveAsync(1) },
    credential("removeAsync") { try await $0.removeAsync() },
  ]

  static let all = storages + properties
}

@Suite struct CooperationTests {
  /// Of more calls than Swift concurrency has threads; it goes on for others, and so for who
  /// cancels them: a call that held such a thread would end by its deadline.
  @Test func callsThatHangHoldNoThreadOfSwiftConcurrency() async throws {
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
