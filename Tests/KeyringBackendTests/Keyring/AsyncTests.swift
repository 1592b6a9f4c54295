import Foundation
import KeyringTesting
import Testing

@testable import KeyringBackend

@Suite struct AsyncTests {
  @Test(.ownDaemon) func aCredentialHasAsyncForms() async throws {
    let desktop = try Desktop()
    let credential = Credential<String>.service("github", on: desktop)
    #expect(await credential.async { $0.state } == .absent)
    try await credential.saveAsync("token")
    #expect(try await credential.loadAsync() == "token")
    try await credential.async { try $0.setAccount("me") }
    #expect(await credential.async { $0.account } == "me")
    try await credential.async { try $0.update(.comment("hello")) }
    #expect(try await credential.async { try $0.item }?.comment == "hello")
    try await credential.removeAsync()
    #expect(try await credential.loadAsync() == nil)
  }

  @Test func whoWaitsForItsTurnIsCancelledToo() async throws {
    let fake = try FakeDesktop(.init().with(.hangs, in: "SearchItems"))
    let credential = Credential<String>(
      SharedCredential(
        .service("s", label: nil), account: nil, group: nil,
        access: KeyringAccess(
          deadline: .seconds(600), promptDeadline: .seconds(600), prompts: .never),
        client: fake.client, errorClosure: nil))
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
    let task = Task { try await container.async { try $0.fetch(String.self) } }
    // Not by yielding: what runs all the time keeps the threads that the calls need.
    while fake.service.callCount("SearchItems") == 0 { try await Task.sleep(for: .milliseconds(2)) }
    task.cancel()
    await #expect { try await task.value } throws: { ($0 as? StorageError)?.code == .cancelled }
    let write = Task { try await container.async { try $0.store("x") } }
    write.cancel()
    await #expect { try await write.value } throws: { ($0 as? StorageError)?.code == .cancelled }
    #expect(fake.service.items.isEmpty)
  }
}
