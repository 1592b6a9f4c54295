import Foundation
import SecurePropertyStorage

/// The shop server's settings, in a vault that an administrator fills.
///
/// All are strings, since a dotenv file contains only text.
struct Configuration: Sendable {
  @Vault("PUBLIC_URL") var publicURL: String?
  @Vault("HTTP_PORT") var httpPort: String?
  @Vault("DATABASE_URL") var databaseURL: String?
  @Vault("SESSION_SECRET") var sessionSecret: String?
  @Vault("STRIPE_SECRET_KEY") var stripeSecretKey: String?
  @Vault("SMTP_PASSWORD") var smtpPassword: String?
  @Vault("LOG_LEVEL") var logLevel: String?
  @UnwrappedVault("starts") var starts = 0
}

/// Commands over the vault of `org.example.shopfront`: `show`, `watch COUNT`; and over the
/// desktop's keyring: `login`, `desk`.
@main
struct Shopfront {
  static let applicationID = "org.example.shopfront"

  static func main() async {
    SecureStorage.bootstrap(applicationID: applicationID)
    do {
      try await run(Array(CommandLine.arguments.dropFirst()))
    } catch {
      FileHandle.standardError.write(Data("shopfront: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func run(_ arguments: [String]) async throws {
    let configuration = Configuration()
    switch (arguments.first, arguments.count) {
    case ("show", 1): try show(configuration)
    case ("watch", 2): await watch(configuration, Int(arguments[1]) ?? 1)
    case ("login", 1): try Desk().login()
    case ("desk", 1): try Desk().show()
    default:
      let usage = "usage: Shopfront show | watch COUNT | login | desk\n"
      FileHandle.standardError.write(Data(usage.utf8))
      exit(64)
    }
  }

  private static func show(_ configuration: Configuration) throws {
    let starts = try configuration.$starts.update { count in
      count += 1
      return count
    }
    print("  start \(starts), process \(getpid())")
    print("  PUBLIC_URL         \(try configuration.$publicURL.load() ?? "not set")")
    print("  HTTP_PORT          \(try configuration.$httpPort.load() ?? "not set")")
    print("  LOG_LEVEL          \(try configuration.$logLevel.load() ?? "not set")")
    for secret in [
      configuration.$databaseURL, configuration.$sessionSecret, configuration.$stripeSecretKey,
      configuration.$smtpPassword,
    ] {
      let length = try secret.load()?.count
      let shown = length.map { "(\($0) characters, not shown)" } ?? "not set"
      print("  " + secret.key.padding(toLength: 19, withPad: " ", startingAt: 0) + shown)
    }
  }

  /// Prints the log level now, and whenever another process changes it.
  private static func watch(_ configuration: Configuration, _ count: Int) async {
    var left = count
    for await level in configuration.$logLevel.values {
      // Written without buffering, so that a pipe gets it at once.
      let line = "  [shopfront \(getpid())] LOG_LEVEL is \(level ?? "not set")\n"
      FileHandle.standardOutput.write(Data(line.utf8))
      left -= 1
      if left == 0 { break }
    }
  }
}
