import Foundation
import Observation
import SecurePropertyStorage

/// A service with 30 settings and 10 secrets in one vault, which operators fill with securestore:
/// `check` looks at them, `serve COUNT` runs until its settings were changed so many times.
@main
struct Webshop {
  static func main() async {
    SecureStorage.bootstrap(applicationID: "org.example.webshop", access: .mustExist)
    do {
      let arguments = Array(CommandLine.arguments.dropFirst())
      switch (arguments.first, arguments.count) {
      case ("check", 1): print(try check())
      case ("serve", 2): try await serve(changes: Int(arguments[1]) ?? 1)
      default: throw StartError("usage: Webshop check | serve COUNT")
      }
    } catch {
      FileHandle.standardError.write(Data("webshop: \(error)\n".utf8))
      exit(1)
    }
  }

  /// Looks at all that the service needs before it takes a request.
  static func check() throws -> String {
    try VaultStorage.standard.open()
    let missing = try Secrets().missing()
    guard missing.isEmpty else {
      throw StartError("these secrets are not stored: \(missing.joined(separator: ", "))")
    }
    let settings = Settings()
    guard let level = settings.level else {
      throw StartError("log.level is debug, info, warning or error, not \(settings.logLevel)")
    }
    return """
      listens at \(settings.httpHost):\(settings.httpPort), \(settings.requestTimeout) s a request, \
      log level \(level)
      \(settings.poolSize) connections to the database, \(settings.replicaHosts.count) replicas
      VAT \(settings.vatPercent) %, \(settings.currency); all 10 secrets are there
      """
  }

  /// Serves with the settings of each moment.
  private static func serve(changes: Int) async throws {
    print(try check())
    let settings = Settings()
    var left = changes
    for await line in Observations({ "log level \(settings.logLevel), port \(settings.httpPort)" })
    {
      // Written without buffering, so that a pipe gets it at once.
      FileHandle.standardOutput.write(Data("  \(line)\n".utf8))
      left -= 1
      if left < 0 { return }
    }
  }
}

/// Why the service does not start.
struct StartError: Error, Equatable, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
