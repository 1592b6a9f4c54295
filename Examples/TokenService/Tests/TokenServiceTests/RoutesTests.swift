import Hummingbird
import HummingbirdTesting
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
    _ body: @escaping @Sendable (any TestClientProtocol, FaultyStorage) async throws -> Void
  ) async throws {
    let storage = FaultyStorage()
    try await InjectStorage.withOverrides {
      Composition.register(
        StoredTokens(storage: storage), Administrator(storage: storage), MetricsPage())
      try await Application(router: Routes().router()).test(.router) { client in
        try await body(client, storage)
      }
    }
  }

  private let admin: HTTPFields = [.authorization: "Bearer admin"]

  private func issue(_ client: any TestClientProtocol, to name: String) async throws -> String {
    try await client.execute(
      uri: "/admin/tokens", method: .post, headers: admin, body: ByteBuffer(string: name)
    ) { response in
      #expect(response.status == .ok)
      return String(String(buffer: response.body).dropLast())
    }
  }

  private func check(_ client: any TestClientProtocol, _ token: String) async throws -> String? {
    try await client.execute(
      uri: "/check", method: .get, headers: [.authorization: "Bearer \(token)"]
    ) { response in
      response.status == .ok ? String(buffer: response.body) : nil
    }
  }

  @Test func aTokenThatWasIssuedIsValidUntilItIsWithdrawn() async throws {
    try await withService { client, _ in
      let token = try await issue(client, to: "ci-runner")
      #expect(try await check(client, token) == "ci-runner\n")
      let id = token.split(separator: ".")[0]
      for status in [HTTPResponse.Status.noContent, .notFound] {
        try await client.execute(uri: "/admin/tokens/\(id)", method: .delete, headers: admin) {
          #expect($0.status == status)
        }
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
      for (uri, method) in [
        ("/admin/tokens", HTTPRequest.Method.post), ("/admin/rotate", .post),
        ("/admin/tokens/count", .get),
      ] {
        for headers in [HTTPFields(), [.authorization: "Bearer wrong"]] {
          try await client.execute(uri: uri, method: method, headers: headers) {
            #expect($0.status == .unauthorized)
          }
        }
      }
    }
  }

  @Test func tokensAreValidAfterARotation() async throws {
    try await withService { client, _ in
      let token = try await issue(client, to: "ci-runner")
      try await client.execute(uri: "/admin/rotate", method: .post, headers: admin) {
        #expect($0.status == .noContent)
      }
      #expect(try await check(client, token) == "ci-runner\n")
    }
  }

  @Test func aFullDiskStopsTheIssuingAndNotTheChecking() async throws {
    try await withService { client, storage in
      let token = try await issue(client, to: "ci-runner")
      storage.faults.fail(.writes, with: .failure(StorageError(.full, "no space left")))
      try await client.execute(
        uri: "/admin/tokens", method: .post, headers: admin, body: ByteBuffer(string: "another")
      ) {
        #expect($0.status.code == 507)
      }
      #expect(try await check(client, token) == "ci-runner\n")
    }
  }

  @Test func aStoreThatCannotBeReadIsAnErrorAndNotARefusal() async throws {
    try await withService { client, storage in
      let token = try await issue(client, to: "ci-runner")
      storage.faults.fail(.reads, with: .failure(StorageError(.locked, "locked for the test")))
      try await client.execute(
        uri: "/check", method: .get, headers: [.authorization: "Bearer \(token)"]
      ) {
        #expect($0.status == .internalServerError)
      }
    }
  }
}
