import InjectRegistry
import InjectTesting
import SecureService
import StorageCore
import StorageTesting
import Testing

@testable import TokenService

/// Tests the routes, each over its own storages.
@Suite struct RoutesTests {
  private struct Administrator: Administration {
    let storage: FaultyStorage
    func isAdministrator(_ password: String) async throws -> Bool { password == "admin" }
    func rotate() async throws { _ = try storage.keyAdministration.rotateDataKey() }
    func health() async -> [StorageHealth] {
      [StorageHealth(store: "tokens", readFailure: nil, writeFailure: nil, age: .zero)]
    }
  }

  /// Runs `body` with a client of a service that has its own storage.
  private func withService(
    _ body: @Sendable (HTTPClient, FaultyStorage) async throws -> Void
  ) async throws {
    let storage = FaultyStorage()
    try await InjectStorage.withOverrides {
      Composition.register(
        StoredTokens(storage: storage), Administrator(storage: storage), MetricsPage())
      try await HTTPClient.ofService(with: Routes().router()) { client in
        try await body(client, storage)
      }
    }
  }

  private func issue(_ client: HTTPClient, to name: String) async throws -> String {
    let answer = try await client.send("POST", "/admin/tokens", bearer: "admin", body: name)
    #expect(answer.status == 200)
    return String(answer.body.dropLast())
  }

  private func check(_ client: HTTPClient, _ token: String) async throws -> String? {
    let answer = try await client.send("GET", "/check", bearer: token)
    return answer.status == 200 ? answer.body : nil
  }

  @Test func aTokenThatWasIssuedIsValidUntilItIsWithdrawn() async throws {
    try await withService { client, _ in
      let token = try await issue(client, to: "ci-runner")
      #expect(try await check(client, token) == "ci-runner\n")
      let id = token.split(separator: ".")[0]
      for status in [204, 404] {
        let answer = try await client.send("DELETE", "/admin/tokens/\(id)", bearer: "admin")
        #expect(answer.status == status)
      }
      #expect(try await check(client, token) == nil)
    }
  }

  @Test(arguments: ["", ".", "x.y", "0000000000000000.00", "admin", "é.é"])
  func whatIsNoTokenIsRefused(_ text: String) async throws {
    try await withService { client, _ in
      _ = try await issue(client, to: "somebody")
      #expect(try await check(client, text) == nil)
    }
  }

  @Test func oneTokensSecretIsNotAnothers() async throws {
    try await withService { client, _ in
      let (one, other) = (try await issue(client, to: "a"), try await issue(client, to: "b"))
      let mixed = "\(one.split(separator: ".")[0]).\(other.split(separator: ".")[1])"
      #expect(try await check(client, mixed) == nil)
    }
  }

  @Test func onlyTheAdministratorIssuesAndRotates() async throws {
    try await withService { client, _ in
      for (method, path) in [
        ("POST", "/admin/tokens"), ("POST", "/admin/rotate"), ("GET", "/admin/tokens/count"),
      ] {
        for password in [nil, "wrong"] {
          let answer = try await client.send(method, path, bearer: password)
          #expect(answer.status == 401)
        }
      }
    }
  }

  @Test func tokensAreValidAfterARotation() async throws {
    try await withService { client, _ in
      let token = try await issue(client, to: "ci-runner")
      let answer = try await client.send("POST", "/admin/rotate", bearer: "admin")
      #expect(answer.status == 204)
      #expect(try await check(client, token) == "ci-runner\n")
    }
  }

  @Test func aFullDiskStopsTheIssuingAndNotTheChecking() async throws {
    try await withService { client, storage in
      let token = try await issue(client, to: "ci-runner")
      storage.faults.fail(.writes, with: .failure(StorageError(.full, "no space left")))
      let answer = try await client.send("POST", "/admin/tokens", bearer: "admin", body: "another")
      #expect(answer.status == 507)
      #expect(try await check(client, token) == "ci-runner\n")
    }
  }

  @Test func aStoreThatCannotBeReadIsAnErrorAndNotARefusal() async throws {
    try await withService { client, storage in
      let token = try await issue(client, to: "ci-runner")
      storage.faults.fail(.reads, with: .failure(StorageError(.locked, "locked for the test")))
      let answer = try await client.send("GET", "/check", bearer: token)
      #expect(answer.status == 500)
    }
  }
}
