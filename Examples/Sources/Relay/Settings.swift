import SecurePropertyStorage

/// How much the service writes to its log.
enum LogLevel: String, Codable, CaseIterable { case debug, info, warning, error }

/// The settings of the mail relay, live from its vault.
///
/// A change by `securestore set` is in effect with the next read. A value that does not pass its
/// check never is; the last good one stays.
struct Settings: Sendable {
  private static let ports = { @Sendable (port: Int) in (1...65_535).contains(port) }
  private static let counts = { @Sendable (count: Int) in count > 0 }
  private static let seconds = { @Sendable (seconds: Double) in seconds > 0 && seconds <= 3600 }
  private static let rates = { @Sendable (rate: Double) in (0...1).contains(rate) }

  // Listening
  @LiveVault("listen.host") var listenHost = "127.0.0.1"
  @LiveVault("listen.port", validate: ports) var listenPort = 2525
  @LiveVault("listen.backlog", validate: counts) var listenBacklog = 128
  @LiveVault("listen.tls") var listenTLS = false
  @LiveVault("listen.banner") var listenBanner = "ready"
  @LiveVault("listen.timeout", validate: seconds) var listenTimeout = 30.0

  // Limits
  @LiveVault("limits.messageBytes", validate: counts) var messageBytes = 26_214_400
  @LiveVault("limits.recipients", validate: counts) var recipients = 100
  @LiveVault("limits.connections", validate: counts) var connections = 200
  @LiveVault("limits.connectionsPerHost", validate: counts) var connectionsPerHost = 10
  @LiveVault("limits.messagesPerMinute", validate: counts) var messagesPerMinute = 600
  @LiveVault("limits.bounceRate", validate: rates) var bounceRate = 0.05

  // Queue
  @LiveVault("queue.folder") var queueFolder = "/var/spool/relay"
  @LiveVault("queue.workers", validate: counts) var queueWorkers = 4
  @LiveVault("queue.retries", validate: counts) var queueRetries = 8
  @LiveVault("queue.firstRetry", validate: seconds) var firstRetry = 60.0
  @LiveVault("queue.backoff", validate: seconds) var backoff = 2.0
  @LiveVault("queue.paused") var queuePaused = false

  // Delivery
  @LiveVault("delivery.smartHost") var smartHost: String?
  @LiveVault("delivery.smartPort", validate: ports) var smartPort = 587
  @LiveVault("delivery.helloName") var helloName: String?
  @LiveVault("delivery.requireTLS") var requireTLS = true
  @LiveVault("delivery.timeout", validate: seconds) var deliveryTimeout = 120.0
  @LiveVault("delivery.connections", validate: counts) var deliveryConnections = 20

  // Observability
  @LiveVault("log.level") var logLevel = LogLevel.info
  @LiveVault("log.messages") var logMessages = false
  @LiveVault("metrics.port", validate: ports) var metricsPort = 9090
  @LiveVault("metrics.enabled") var metricsEnabled = true
  @LiveVault("trace.rate", validate: rates) var traceRate = 0.0
  @LiveVault("maintenance") var maintenance = false

  /// The settings that the demo shows.
  var summary: String {
    "port \(listenPort), workers \(queueWorkers), \(logLevel)\(queuePaused ? ", paused" : "")"
  }
}

/// The secrets of the mail relay.
///
/// They are read when they are needed and kept nowhere else, so they are not live properties.
struct Secrets: Sendable {
  @Vault("secret.smartHost.user") var smartHostUser: String?
  @Vault("secret.smartHost.password") var smartHostPassword: String?
  @Vault("secret.tls.key") var tlsKey: String?
  @Vault("secret.tls.passphrase") var tlsPassphrase: String?
  @Vault("secret.dkim.key") var dkimKey: String?
  @Vault("secret.database.url") var databaseURL: String?
  @Vault("secret.metrics.token") var metricsToken: String?
  @Vault("secret.admin.token") var adminToken: String?
  @Vault("secret.webhook.key") var webhookKey: String?
  @Vault("secret.spool.key") var spoolKey: String?

  /// The names of secrets that the service can't do without and that are missing.
  ///
  /// - Throws: `StorageError` when a secret can't be read. A missing one is no error here.
  func missing() throws(StorageError) -> [String] {
    var names: [String] = []
    for secret in [$smartHostPassword, $databaseURL, $adminToken]
    where try secret.load() == nil {
      names.append(secret.key)
    }
    return names
  }
}
