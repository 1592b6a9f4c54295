import Configuration
import Foundation
import Hummingbird
import InjectRegistry
import Logging
import Metrics
import SecureConfiguration
import SecureService
import ServiceLifecycle
import StorageCore
import VaultBackend

/// The only place that selects the parts of the service.
enum Composition {
  static func register(
    _ tokens: any Tokens, _ administration: any Administration, _ metrics: MetricsPage
  ) {
    @Register var tokens = tokens
    @Register var administration = administration
    @Register var metrics = metrics
  }
}

/// A small HTTP service that issues and checks API tokens.
///
///     token-service [serve] [--http-host 127.0.0.1] [--http-port 8080]
///     token-service issue NAME
///     token-service password
///
/// Settings come from the command line, the environment (`HTTP_PORT`) and the vault, in this order.
@main struct Program {
  static func main() async {
    // With `--store-must-exist`, as in the unit file, a deleted vault or a disk that is not mounted is
    // an error: the service must not start with a new, empty vault.
    SecureStorage.bootstrap(
      applicationID: "token-service",
      keySource: .firstAvailable([
        .systemdCredential("token-service-key"),
        .mountedSecret("/run/secrets/token-service-key"), .automatic,
      ]))
    var logger = Logger(label: "token-service")
    logger.logLevel = .info
    StorageDiagnostics.log(to: logger)
    do {
      switch CommandLine.arguments.dropFirst().first {
      case "issue": try await issue()
      case "password": try await showPassword()
      default: try await serve(logger)
      }
    } catch let error as StorageStartError {
      end(error.description, error.exitCode)
    } catch let error as StorageError {
      end(error.description, error.code.exitCode)
    } catch {
      end("\(error)", 1)
    }
  }

  private static func end(_ message: String, _ code: Int32) -> Never {
    FileHandle.standardError.write(Data("token-service: \(message)\n".utf8))
    exit(code)
  }

  /// Issues a token from the command line.
  ///
  /// A running service shares the vault and sees the token.
  private static func issue() async throws {
    guard CommandLine.arguments.count == 3 else {
      end("name the token's holder: token-service issue NAME", 64)
    }
    print(
      try await StoredTokens(storage: VaultStorage.standard).issue(to: CommandLine.arguments[2]))
  }

  /// Prints the administrator's password, for anyone who can read the vault and its key.
  private static func showPassword() async throws {
    let password = try await VaultStorage.standard.loadAsync(String.self, forKey: "admin.password")
    guard let password else { end("there is no password yet: the first start creates it", 69) }
    print(password)
  }

  private static func serve(_ logger: Logger) async throws {
    let metrics = MetricsPage()
    MetricsSystem.bootstrap(metrics)
    let vault = VaultStorage.standard
    // An option has the name of its key, with dashes: --http-port is http.port.
    let config = ConfigReader(providers: [
      CommandLineArgumentsProvider(), EnvironmentVariablesProvider(),
      SecureStorageProvider(vault),
    ])
    let mustExist = config.bool(forKey: "store.must.exist", default: false)
    let stores = StorageService(
      [.vault(vault, existence: mustExist ? .mustExist : .madeIfMissing)], logger: logger)
    try await stores.open()
    // A service without a password would be open to everyone: the first start creates one.
    let password = (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }
    try await vault.saveIfAbsentAsync(password.joined(), forKey: "admin.password")

    Composition.register(
      MeasuredTokens(StoredTokens(storage: vault)),
      ServiceAdministration(config: config, vault: vault, stores: stores), metrics)
    try InjectStorage.validate()
    let application = Application(
      router: Routes().router(),
      configuration: ApplicationConfiguration(
        address: .hostname(
          config.string(forKey: "http.host", default: "127.0.0.1"),
          port: config.int(forKey: "http.port", default: 8080)),
        serverName: "token-service"),
      logger: logger)
    // The order matters: services end in reverse order, so the stores are closed last.
    let group = ServiceGroup(
      services: [stores, application], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    try await group.run()
  }
}
