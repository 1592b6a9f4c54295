import Foundation
import SecurePropertyStorage

/// How much the shop writes into its log.
enum LogLevel: String, Codable, Sendable { case debug, info, warning, error }

/// The shop's settings, in its vault.
///
/// Each has a default, and an operator changes it while the shop runs. They are imported from
/// webshop.json, whose numbers and Booleans keep their types.
struct Settings: Sendable {
  // HTTP
  @LiveVault("http.host") var httpHost = "127.0.0.1"
  @LiveVault("http.port") var httpPort = 8080
  @LiveVault("http.allowed-origins") var allowedOrigins = ""
  @LiveVault("http.request-timeout") var requestTimeout = 30.0
  @LiveVault("http.maintenance") var isInMaintenance = false
  @LiveVault("http.public-url") var publicURL = "http://localhost:8080/"

  // Database
  @LiveVault("database.pool-size") var poolSize = 4
  @LiveVault("database.statement-timeout") var statementTimeout = 10.0
  @LiveVault("database.replicas") var replicas = ""
  @LiveVault("database.slow-query") var slowQuery = 0.5

  // Sessions
  @LiveVault("session.lifetime") var sessionLifetime = 3600
  @LiveVault("session.cookie-domain") var cookieDomain: String?
  @LiveVault("session.same-site") var sameSite = "lax"

  // Payments
  @LiveVault("payment.provider") var paymentProvider = "stripe"
  @LiveVault("payment.currency") var currency = "USD"
  @LiveVault("payment.vat-percent") var vatPercent = 20.0
  @LiveVault("payment.retries") var paymentRetries = 3

  // Mail
  @LiveVault("mail.host") var mailHost: String?
  @LiveVault("mail.port") var mailPort = 25
  @LiveVault("mail.from") var mailFrom = "shop@localhost"
  @LiveVault("mail.batch") var mailBatch = 50

  // Pictures
  @LiveVault("pictures.bucket") var bucket = "pictures"
  @LiveVault("pictures.region") var region = "eu-central-1"
  @LiveVault("pictures.quality") var pictureQuality = 85

  // Operation
  @LiveVault("log.level") var logLevel = "warning"
  @LiveVault("log.requests") var logsRequests = false
  @LiveVault("metrics.enabled") var hasMetrics = false
  @LiveVault("metrics.port") var metricsPort = 9090
  @LiveVault("trace.sample-rate") var sampleRate = 0.0
  @LiveVault("trace.endpoint") var traceEndpoint: String?

  /// The hosts of the replicas, which an operator writes with commas between them.
  var replicaHosts: [Substring] { replicas.split(separator: ",") }

  /// The log level; nil for a text that is none.
  var level: LogLevel? { LogLevel(rawValue: logLevel) }
}

/// The shop's secrets, in the same vault.
///
/// None is live, so none stays in memory after its use, and none has a default.
struct Secrets: Sendable {
  @Vault("DATABASE_URL") var databaseURL: String?
  @Vault("SESSION_SECRET") var sessionSecret: String?
  @Vault("JWT_SIGNING_KEY") var signingKey: String?
  @Vault("STRIPE_SECRET_KEY") var stripeKey: String?
  @Vault("STRIPE_WEBHOOK_SECRET") var stripeWebhook: String?
  @Vault("SMTP_USERNAME") var smtpUser: String?
  @Vault("SMTP_PASSWORD") var smtpPassword: String?
  @Vault("S3_ACCESS_KEY_ID") var s3KeyID: String?
  @Vault("S3_SECRET_ACCESS_KEY") var s3Key: String?
  @Vault("SENTRY_DSN") var sentryDSN: String?

  private var all: [Vault<String>] {
    [
      $databaseURL, $sessionSecret, $signingKey, $stripeKey, $stripeWebhook, $smtpUser,
      $smtpPassword, $s3KeyID, $s3Key, $sentryDSN,
    ]
  }

  /// The names of the secrets that nobody has stored; a secret that can't be read is an error.
  func missing() throws(StorageError) -> [String] {
    var names: [String] = []
    for secret in all where try secret.load() == nil { names.append(secret.key) }
    return names
  }
}
