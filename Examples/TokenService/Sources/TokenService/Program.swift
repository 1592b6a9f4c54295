import Configuration
import EtcdBackend
import Foundation
import Hummingbird
import HummingbirdCore
import InjectRegistry
import Logging
import Metrics
import NIOCore
import SecureConfiguration
import SecureService
import ServiceLifecycle
import StorageCore

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
///     token-service serve [--http-host 127.0.0.1] [--http-port 8080] [--store-must-exist]
///     token-service issue NAME
///     token-service password [--new]
///     token-service create
///     token-service tables
///
/// Settings come from the command line, the environment (`HTTP_PORT`) and the store, in this order.
/// With `ETCD_ENDPOINTS` or `POSTGRES_CONNECTION` the store is in etcd or PostgreSQL, where `create`
/// makes it, and not a vault. `tables` prints the SQL that makes PostgreSQL's tables before.
@main struct Program {
  private static let usage = """
    usage: token-service serve [--http-host 127.0.0.1] [--http-port 8080] [--store-must-exist]
           token-service issue NAME
           token-service password [--new]
           token-service create
           token-service tables
    """

  static func main() async {
    SecureStorage.bootstrap(
      applicationID: "token-service", keySource: .firstAvailable(keySources))
    var logger = Logger(label: "token-service")
    logger.logLevel = .info
    StorageDiagnostics.log(to: logger)
    do {
      let arguments = CommandLine.arguments.dropFirst()
      if arguments.contains("--help") || arguments.contains("-h") {
        print(usage)
        return
      }
      switch arguments.first {
      case "serve": try await serve(logger)
      case "issue": try await issue()
      case "password": try await showPassword()
      case "create": try await ServiceStore.create()
      case "tables": print(ServiceStore.tables, terminator: "")
      default: end(usage, 64)
      }
    } catch let error as StorageStartError {
      end(error.description, error.exitCode)
    } catch let error as StorageError {
      end(error.description, error.code.exitCode)
    } catch let error as IOError where error.errnoCode == EADDRINUSE {
      // 75: it may pass, so systemd tries again.
      end(
        "another program, perhaps another token-service, has the port; end that one, or choose another --http-port",
        75)
    } catch {
      end("\(error)", 1)
    }
  }

  /// Where the key may come from.
  ///
  /// On a server, where systemd or a container gives a state folder, only from outside that folder:
  /// a missing secret is then an error, and no key is made beside the vault. Elsewhere the first
  /// start makes a key file.
  static var keySources: [KeySource] {
    let server: [KeySource] = [
      .systemdCredential("token-service-key"), .mountedSecret("/run/secrets/token-service-key"),
    ]
    let isServer = ProcessInfo.processInfo.environment["STATE_DIRECTORY"] != nil
    return isServer ? server : server + [.automatic]
  }

  private static func end(_ message: String, _ code: Int32) -> Never {
    FileHandle.standardError.write(Data("token-service: \(message)\n".utf8))
    exit(code)
  }

  /// Issues a token from the command line.
  ///
  /// A running service shares the store and sees the token.
  private static func issue() async throws {
    guard CommandLine.arguments.count == 3, let name = CommandLine.arguments.last, !name.isEmpty,
      !name.hasPrefix("-")
    else { end("name the token's holder: token-service issue NAME", 64) }
    // Only the service makes a vault. Otherwise a token for nobody's vault would be printed here,
    // for example by another user or without the unit's state folder.
    let store = try ServiceStore.find()
    try await store.async { try $0.open(.mustExist) }
    print(try await StoredTokens(storage: store).issue(to: name))
  }

  /// Prints the administrator's password, for anyone who can read the store and its key; a new one
  /// if that is asked for.
  ///
  /// Every running instance takes a new password from its next request on.
  private static func showPassword() async throws {
    let options = CommandLine.arguments.dropFirst(2)
    guard options.isEmpty || Array(options) == ["--new"] else { end(usage, 64) }
    let store = try ServiceStore.find()
    try await store.async { try $0.open(.mustExist) }
    if !options.isEmpty { try await store.saveAsync(randomPassword(), forKey: "admin.password") }
    let password = try await store.loadAsync(String.self, forKey: "admin.password")
    guard let password else { end("there is no password yet: the first start creates it", 69) }
    print(password)
  }

  private static func randomPassword() -> String {
    (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
  }

  /// Reads a setting; one that is wrong ends the start, since a restart does not mend it.
  private static func setting<Value>(_ read: () async throws -> Value) async throws -> Value {
    do {
      return try await read()
    } catch let error as StorageError {
      throw error
    } catch {
      end("\(error)", 64)
    }
  }

  private static func serve(_ logger: Logger) async throws {
    let metrics = MetricsPage()
    MetricsSystem.bootstrap(metrics)
    let store = try ServiceStore.find()
    // An option has the name of its key, with dashes: --http-port is http.port.
    let config = ConfigReader(providers: [
      CommandLineArgumentsProvider(), EnvironmentVariablesProvider(),
      SecureStorageProvider(store),
    ])
    // Not from the store, which is not open yet. The fetch calls throw for a wrong setting: without
    // them, `--store-must-exist=on` would count as the default.
    let start = ConfigReader(providers: [
      CommandLineArgumentsProvider(), EnvironmentVariablesProvider(),
    ])
    let mustExist = try await setting {
      try await start.fetchBool(forKey: "store.must.exist", default: false)
    }
    let stores = StorageService(
      [ServiceStore.managed(store, mustExist: mustExist)], logger: logger)
    try await stores.open()
    if let shared = store as? RemoteStorage {
      // The metrics show whether it is so; a start does not depend on it.
      do {
        try await shared.async { _ = try $0.acknowledge() }
      } catch {
        logger.warning("the key slots are not acknowledged", metadata: ["error": "\(error)"])
      }
    }
    // A service without a password would be open to everyone: the first start creates one.
    // Looked for first, since even a write that finds a value needs room on the disk.
    if try await store.loadAsync(String.self, forKey: "admin.password") == nil {
      let password = randomPassword()
      _ = try await store.async { try $0.saveIfAbsent(password, forKey: "admin.password") }
    }

    Composition.register(
      MeasuredTokens(StoredTokens(storage: store)),
      ServiceAdministration(store: store, stores: stores), metrics)
    try InjectStorage.validate()
    let host = try await setting {
      try await config.fetchString(forKey: "http.host", default: "127.0.0.1")
    }
    let port = try await setting { try await config.fetchInt(forKey: "http.port", default: 8080) }
    guard (1...65_535).contains(port) else {
      throw StorageError(.invalid, "a port is a number from 1 to 65535", key: "http.port")
    }
    let application = Application(
      router: Routes().router(),
      // Without limits, silent connections would use up the descriptors, which the vault needs as
      // well.
      server: .http1(configuration: .init(idleTimeout: .seconds(30))),
      configuration: ApplicationConfiguration(
        address: .hostname(host, port: port), serverName: "token-service",
        availableConnectionsDelegate: MaximumAvailableConnections(500)),
      logger: logger)
    // The order matters: services end in reverse order, so the stores are closed last.
    var services = ServiceGroupConfiguration(
      services: [stores, application], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    services.maximumGracefulShutdownDuration = .seconds(20)
    try await ServiceGroup(configuration: services).run()
  }
}
