import Foundation
import FoundationNetworking
import Hummingbird
import Logging

/// A client of a service that runs for one test, on a port of its own.
///
/// HummingbirdTesting could hand requests to the routes, too. It brings TLS and another HTTP client
/// with it, which take longer to build than the service and its store together.
struct HTTPClient: Sendable {
  let port: Int

  /// Serves `router` while `body` runs.
  static func ofService(
    with router: Router<BasicRequestContext>,
    _ body: @Sendable (HTTPClient) async throws -> Void
  ) async throws {
    let (ports, port) = AsyncStream.makeStream(of: Int.self)
    let service = Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
      onServerRunning: { port.yield($0.localAddress?.port ?? 0) },
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    try await withThrowingTaskGroup { group in
      group.addTask {
        defer { port.finish() }
        try await service.run()
      }
      guard let port = await ports.first(where: { _ in true }) else {
        try await group.waitForAll()  // throws why the service does not run
        return
      }
      try await body(HTTPClient(port: port))
      group.cancelAll()
    }
  }

  /// Sends a request, with `Authorization: Bearer` if a token or password is given.
  func send(
    _ method: String, _ path: String, bearer: String? = nil, body: String = ""
  ) async throws -> (status: Int, body: String) {
    guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { throw URLError(.badURL) }
    var request = URLRequest(url: url)
    request.httpMethod = method
    if let bearer { request.setValue("Bearer \(bearer)", forHTTPHeaderField: "Authorization") }
    if !body.isEmpty { request.httpBody = Data(body.utf8) }
    let (data, response) = try await URLSession.shared.data(for: request)
    guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
    return (response.statusCode, String(decoding: data, as: UTF8.self))
  }
}
