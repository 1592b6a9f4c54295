import SecurePropertyStorage
import StorageTesting
import Testing

@testable import Webshop

/// Each test has a vault of its own, in memory.
@Suite(.storage()) struct WebshopTests {
  private static let names = [
    "DATABASE_URL", "SESSION_SECRET", "JWT_SIGNING_KEY", "STRIPE_SECRET_KEY",
    "STRIPE_WEBHOOK_SECRET", "SMTP_USERNAME", "SMTP_PASSWORD", "S3_ACCESS_KEY_ID",
    "S3_SECRET_ACCESS_KEY", "SENTRY_DSN",
  ]

  private func storeSecrets(except missing: Set<String> = []) throws {
    for name in Self.names where !missing.contains(name) {
      try VaultStorage.standard.save("secret of \(name)", forKey: name)
    }
  }

  private func refusal() -> String? {
    do {
      _ = try Webshop.check()
      return nil
    } catch { return "\(error)" }
  }

  @Test func withAllSecretsTheDefaultsServe() throws {
    try storeSecrets()
    let said = try Webshop.check()
    #expect(said.contains("127.0.0.1:8080") && said.contains("all 10 secrets"))
    #expect(!said.contains("secret of"))
  }

  @Test(arguments: names) func aSecretThatIsNotStoredIsNamed(_ name: String) throws {
    try storeSecrets(except: [name])
    #expect(refusal() == "these secrets are not stored: \(name)")
  }

  @Test func aSecretThatCanNotBeReadIsNoMissingOne() throws {
    try storeSecrets(except: ["SMTP_PASSWORD"])
    try VaultStorage.standard.save(1, forKey: "SMTP_PASSWORD")
    #expect(refusal()?.contains("SMTP_PASSWORD") == true)
    #expect(refusal()?.contains("not stored") == false)
  }

  @Test func aSettingIsUsedFromTheNextReadOn() throws {
    try storeSecrets()
    let settings = Settings()
    #expect(settings.httpPort == 8080)
    try VaultStorage.standard.save(9000, forKey: "http.port")
    #expect(settings.httpPort == 9000)
    #expect(try Webshop.check().contains("127.0.0.1:9000"))
  }

  @Test func aLogLevelThatIsNoneStopsTheStart() throws {
    try storeSecrets()
    try VaultStorage.standard.save("loud", forKey: "log.level")
    #expect(refusal() == "log.level is debug, info, warning or error, not loud")
  }
}
