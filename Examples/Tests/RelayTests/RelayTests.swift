import SecurePropertyStorage
import StorageTesting
import Testing

@testable import Relay

/// Each test has its own vault, in memory.
@Suite(.storage()) struct RelayTests {
  private let settings = Settings()
  private var vault: VaultStorage { .standard }

  @Test func withoutAnyValueTheDefaultsHold() {
    #expect(settings.summary == "port 2525, workers 4, info")
  }

  /// `securestore import settings.env` stores text.
  @Test func textThatSaysANumberABooleanOrACaseIsReadAsOne() throws {
    for (key, text) in [
      ("listen.port", "2600"), ("queue.paused", "true"), ("log.level", "debug"),
    ] {
      try vault.save(text, forKey: key)
    }
    #expect(settings.summary == "port 2600, workers 4, debug, paused")
  }

  @Test(arguments: ["70000", "0", "-1", " 2600", "2600 ", "26e2", "smtp", ""])
  func aPortThatIsNoneLeavesTheLastGoodOne(_ text: String) throws {
    try vault.save(2600, forKey: "listen.port")
    #expect(settings.listenPort == 2600)
    try vault.save(text, forKey: "listen.port")
    #expect(settings.listenPort == 2600)
  }

  @Test func whatIsMissingIsNamedAndNothingElseIsSaid() throws {
    let secrets = Secrets()
    #expect(
      try secrets.missing()
        == ["secret.smartHost.password", "secret.database.url", "secret.admin.token"])
    secrets.smartHostPassword = "p"
    secrets.databaseURL = "u"
    secrets.adminToken = "t"
    #expect(try secrets.missing().isEmpty)
  }
}
