import Foundation
import SecurePropertyStorage

/// The web shop's settings; each is sealed in UserDefaults under the name of its variable.
struct Settings: Sendable {
  // HTTP
  @UnwrappedUserDefault("HTTP_HOST") var httpHost = "127.0.0.1"
  @UnwrappedUserDefault("HTTP_PORT") var httpPort = 8080
  @UserDefault("PUBLIC_URL") var publicURL: URL?
  @UnwrappedUserDefault("ALLOWED_ORIGINS") var allowedOrigins: [String] = []
  @UnwrappedUserDefault("REQUEST_TIMEOUT") var requestTimeout = 30.0
  @UnwrappedUserDefault("MAINTENANCE_MODE") var maintenanceMode = false

  // Database
  @UserDefault("DATABASE_URL") var databaseURL: URL?
  @UnwrappedUserDefault("DATABASE_POOL_SIZE") var databasePoolSize = 4
  @UnwrappedUserDefault("DATABASE_STATEMENT_TIMEOUT") var databaseStatementTimeout = 10.0
  @UnwrappedUserDefault("DATABASE_REPLICA_URLS") var databaseReplicaURLs: [String] = []

  // Sessions
  @UserDefault("SESSION_SECRET") var sessionSecret: String?
  @UnwrappedUserDefault("SESSION_LIFETIME") var sessionLifetime = 3600
  @UserDefault("COOKIE_DOMAIN") var cookieDomain: String?
  @UserDefault("JWT_SIGNING_KEY") var jwtSigningKey: String?

  // Payments
  @UserDefault("PAYMENT_PROVIDER") var paymentProvider: String?
  @UserDefault("STRIPE_SECRET_KEY") var stripeSecretKey: String?
  @UserDefault("STRIPE_WEBHOOK_SECRET") var stripeWebhookSecret: String?
  @UnwrappedUserDefault("PAYMENT_CURRENCY") var paymentCurrency = "USD"
  @UserDefault("VAT_RATE") var vatRate: Decimal?

  // Mail
  @UserDefault("SMTP_HOST") var smtpHost: String?
  @UnwrappedUserDefault("SMTP_PORT") var smtpPort = 25
  @UserDefault("SMTP_USERNAME") var smtpUsername: String?
  @UserDefault("SMTP_PASSWORD") var smtpPassword: String?
  @UserDefault("MAIL_FROM") var mailFrom: String?

  // Object storage
  @UserDefault("S3_BUCKET") var s3Bucket: String?
  @UserDefault("S3_REGION") var s3Region: String?
  @UserDefault("S3_ACCESS_KEY_ID") var s3AccessKeyID: String?
  @UserDefault("S3_SECRET_ACCESS_KEY") var s3SecretAccessKey: String?

  // Observability
  @UnwrappedUserDefault("LOG_LEVEL") var logLevel = "warning"
  @UserDefault("SENTRY_DSN") var sentryDSN: URL?
  @UnwrappedUserDefault("METRICS_ENABLED") var metricsEnabled = false
  @UnwrappedUserDefault("TRACE_SAMPLE_RATE") var traceSampleRate = 0.0
}

/// Converts between one variable of a dotenv file and a property.
struct Field {
  let name: String
  let assign: (String) throws -> Void
  let show: () throws -> String?

  init<P: OptionalStoredProperty>(_ property: P, _ parse: @escaping (String) -> P.Value?) {
    name = property.key
    assign = { text in try property.save(try Field.parsed(text, property.key, parse)) }
    show = { try property.load().map { "\($0)" } }
  }

  init<P: DefaultedStoredProperty>(_ property: P, _ parse: @escaping (String) -> P.Value?) {
    name = property.key
    assign = { text in try property.save(try Field.parsed(text, property.key, parse)) }
    show = { "\(try property.load())" }
  }

  private static func parsed<T>(
    _ text: String, _ name: String, _ parse: (String) -> T?
  ) throws -> T {
    guard let value = parse(text) else { throw DotEnvError("\(name) is not a \(T.self)") }
    return value
  }
}

extension Settings {
  /// All settings, in the order of the file.
  var fields: [Field] {
    let text: (String) -> String? = { $0 }
    let list: (String) -> [String]? = { $0.split(separator: ",").map(String.init) }
    return [
      Field($httpHost, text), Field($httpPort) { Int($0) }, Field($publicURL) { URL(string: $0) },
      Field($allowedOrigins, list), Field($requestTimeout) { Double($0) },
      Field($maintenanceMode) { Bool($0) }, Field($databaseURL) { URL(string: $0) },
      Field($databasePoolSize) { Int($0) }, Field($databaseStatementTimeout) { Double($0) },
      Field($databaseReplicaURLs, list), Field($sessionSecret, text),
      Field($sessionLifetime) { Int($0) }, Field($cookieDomain, text), Field($jwtSigningKey, text),
      Field($paymentProvider, text), Field($stripeSecretKey, text),
      Field($stripeWebhookSecret, text), Field($paymentCurrency, text),
      Field($vatRate) { Decimal(string: $0) }, Field($smtpHost, text),
      Field($smtpPort) { Int($0) }, Field($smtpUsername, text), Field($smtpPassword, text),
      Field($mailFrom, text), Field($s3Bucket, text), Field($s3Region, text),
      Field($s3AccessKeyID, text), Field($s3SecretAccessKey, text), Field($logLevel, text),
      Field($sentryDSN) { URL(string: $0) }, Field($metricsEnabled) { Bool($0) },
      Field($traceSampleRate) { Double($0) },
    ]
  }
}
