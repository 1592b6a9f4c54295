import Foundation
import Hummingbird
import InjectRegistry
import SecureService
import StorageCore

/// The routes of the service.
///
/// The services behind them are injected: tests register their own.
struct Routes: Sendable {
  @UnwrappedInject private var tokens: any Tokens
  @UnwrappedInject private var administration: any Administration
  @UnwrappedInject private var metrics: MetricsPage

  func router() -> Router<BasicRequestContext> {
    let router = Router()
    router.add(middleware: Failures())
    router.get("check") { request, _ in
      guard let token = bearer(request), let holder = try tokens.holder(of: token) else {
        throw unauthorized("the token is not valid")
      }
      return holder + "\n"
    }
    // For a load balancer: 503 removes the instance. A store that can't be written to still checks
    // tokens.
    router.get("health") { _, _ in
      let health = await administration.health()
      let lines = health.map { "\($0.store): \(title(of: $0))\n" }
      return EditedResponse(
        status: health.allSatisfy { $0.isReadable } ? .ok : .serviceUnavailable,
        response: lines.joined())
    }
    router.get("metrics") { _, _ in metrics.text() }

    let group = router.group("admin").add(middleware: AdminOnly(administration: administration))
    group.post("tokens") { request, _ in
      var request = request
      let name = String(buffer: try await request.collectBody(upTo: 1_024))
        .trimmingCharacters(in: .whitespacesAndNewlines)
      guard !name.isEmpty else { throw HTTPError(.badRequest, message: "name the holder") }
      return try await storing { try await tokens.issue(to: name) } + "\n"
    }
    group.delete("tokens/:id") { _, context in
      let id = try context.parameters.require("id")
      guard try await storing({ try await tokens.withdraw(id) }) else { throw HTTPError(.notFound) }
      return HTTPResponse.Status.noContent
    }
    group.get("tokens/count") { _, _ in "\(try await tokens.count())\n" }
    group.post("rotate") { _, _ in
      try await storing { try await administration.rotate() }
      return HTTPResponse.Status.noContent
    }
    return router
  }

  /// Answers 507 for a full or read-only disk, which is neither the client's fault nor a bug; reads
  /// still work.
  private func storing<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
      return try await body()
    } catch let error as StorageError where [.full, .readOnly].contains(error.code) {
      throw HTTPError(
        .init(code: 507, reasonPhrase: "Insufficient Storage"),
        message: "the service can't store anything at present")
    }
  }

  private func title(of health: StorageHealth) -> String {
    if let failure = health.readFailure { return "can't be read (\(failure.code))" }
    if let code = health.writeFailure { return "can be read, but the last write failed (\(code))" }
    return health.isReadable ? "ok" : "not open"
  }
}

/// The token of a request's `Authorization: Bearer`.
func bearer(_ request: Request) -> String? {
  guard let value = request.headers[.authorization] else { return nil }
  // RFC 9110, 11.1: the scheme's name is case-insensitive.
  let scheme = value.prefix("Bearer ".count)
  return scheme.lowercased() == "bearer " ? String(value.dropFirst(scheme.count)) : nil
}

private func unauthorized(_ message: String) -> HTTPError {
  HTTPError(.unauthorized, headers: [.wwwAuthenticate: "Bearer"], message: message)
}

/// Has the log say why a request failed, each reason once and then its count; the client gets 500
/// alone.
struct Failures<Context: RequestContext>: RouterMiddleware {
  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch let error as StorageError {
      // A token's id is no part of the message: the names of a thousand tokens would be a thousand
      // reasons.
      StorageDiagnostics.handler(StorageError(error.code, error.message, path: error.path))
      throw HTTPError(.internalServerError)
    }
  }
}

/// Admits only the administrator.
struct AdminOnly<Context: RequestContext>: RouterMiddleware {
  let administration: any Administration

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    guard let password = bearer(request), try await administration.isAdministrator(password) else {
      throw unauthorized("this is for the administrator")
    }
    return try await next(request, context)
  }
}
