import Foundation
import KeyringTesting
import Testing

@testable import KeyringBackend

@Suite struct AsyncTests {
  @Test(.ownDaemon) func theAsyncFormsDoTheSame() async throws {
    let desktop = try Desktop()
    let keyring = desktop.keyring("service")
    let container = keyring.container(for: "account")
    try await container.storeAsync("value")
    #expect(try await container.fetchAsync(String.self) == "value")
    let text: String? = try await container.fetchAsync()
    #expect(text == "value")
    #expect(try await !container.isEmptyAsync())
    #expect(try await keyring.keysAsync() == ["account"])
    #expect(try await keyring.containersAsync().map(\.account) == ["account"])
    let other = keyring.container(for: "other")
    #expect(try await container.copyAsync(to: other))
    #expect(try await container.moveAsync(to: other))
    #expect(try await other.dropAsync(String.self) == "value")
    try await container.storeAsync(1)
    try await container.emptyAsync()
    #expect(try await container.isEmptyAsync())
    try await container.storeAsync(1)
    try await keyring.emptyAsync()
    #expect(try await keyring.keysAsync() == [])

    let credential = Credential<String>.service("github", on: desktop)
    try await credential.saveAsync("token")
    #expect(try await credential.loadAsync() == "token")
    try await credential.setAccountAsync("me")
    #expect(try await credential.accountAsync() == "me")
    #expect(try await credential.itemAsync()?.account == "me")
    #expect(try await credential.itemsAsync().count == 1)
    try await credential.updateAsync(.comment("hello"))
    #expect(try await credential.itemAsync()?.comment == "hello")
    #expect(try await credential.deleteAsync() == 1)
    try await credential.saveAsync("token")
    try await credential.removeAsync()
    #expect(try await credential.loadAsync() == nil)
  }

  @Test func aStorageHasAsyncFormsOfItsCalls() async throws {
    let desktop = try Desktop()
    let storage = desktop.storage()
    try await storage.openAsync()
    #expect(try await storage.loadAsync(Int.self, forKey: "key") == nil)
    try await storage.saveAsync(1, forKey: "key")
    #expect(try await !storage.saveIfAbsentAsync(2, forKey: "key"))
    try await storage.updateAsync(Int.self, forKey: "key") { $0 = ($0 ?? 0) + 1 }
    #expect(try await storage.loadAsync(forKey: "key") == 2)
    #expect(try await storage.containsAsync("key"))
    #expect(try await storage.keysAsync() == ["key"])
    try await storage.deleteAsync(forKey: "key")
    #expect(try await !storage.containsAsync("key"))
    try await storage.saveAsync(1, forKey: "key")
    try await storage.removeAllAsync()
    #expect(try await storage.keysAsync().isEmpty)
  }

  @Test(.timeLimit(.minutes(30))) func whoWaitsForItsTurnIsCancelledToo() async throws {
    let fake = try FakeDesktop(.init().with(.hangs, in: "SearchItems"))
    let credential = Credential<String>(
      core: CredentialCore(
        .service("s", label: nil), account: nil, group: nil,
        access: KeyringAccess(
          deadline: .seconds(600), promptDeadline: .seconds(600), prompts: .never),
        client: fake.client, errorClosure: nil), coding: nil)
    let first = Task { try await credential.saveAsync("first") }
    while fake.service.callCount("SearchItems") == 0 {
      try await Task.sleep(for: .milliseconds(5))
    }
    let second = Task { try await credential.saveAsync("second") }
    try await Task.sleep(for: .milliseconds(200))  // it may wait by now
    second.cancel()
    await #expect(throws: StorageError.self) { try await second.value }
    first.cancel()
    await #expect(throws: StorageError.self) { try await first.value }
  }

  @Test func aCancelledTaskCancelsTheCall() async throws {
    let fake = try FakeDesktop(.init().with(.hangs, in: "SearchItems"))
    let patient = KeyringAccess(deadline: .seconds(600), prompts: .never)
    let container = fake.keyring("service", access: patient).container(for: "account")
    let task = Task { try await container.fetchAsync(String.self) }
    // Not by yielding: what runs all the time keeps the threads that the calls need.
    while fake.service.callCount("SearchItems") == 0 { try await Task.sleep(for: .milliseconds(2)) }
    task.cancel()
    await #expect { try await task.value } throws: { ($0 as? StorageError)?.code == .cancelled }
    let write = Task { try await container.storeAsync("x") }
    write.cancel()
    await #expect { try await write.value } throws: { ($0 as? StorageError)?.code == .cancelled }
    #expect(fake.service.items.isEmpty)
  }
}
