import KeyringTesting
import StorageCore
import Testing

@testable import KeyringBackend

/// What a program can tell its user about the keyring.
@Suite struct KeyringReportTests {
  private func report(
    _ client: KeyringClient, keys: [String] = [], deadline: Duration = .seconds(30)
  ) -> KeyringReport {
    KeyringReport(keys: keys, deadline: deadline, client: client)
  }

  private func codes(_ report: KeyringReport) -> [KeyringReport.Subject: String] {
    Dictionary(
      uniqueKeysWithValues: report.findings.map {
        ($0.subject, $0.error?.code.description ?? "good")
      })
  }

  @Test func aKeyringThatWorksHasNothingToSay() throws {
    let desktop = try Desktop()
    let name = Desktop.freshService()
    let key = KeyringKey(
      name: name, collection: nil, access: .patient, client: desktop.anotherClient())
    _ = try key.make()
    let report = report(desktop.client, keys: [name, "another"])
    #expect(
      codes(report) == [
        .bus: "good", .service: "good", .collection: "good", .key(name): "good",
        .key("another"): "keyUnavailable",
      ])
    // Other services have names of their own for it.
    let label = report.findings.first { $0.subject == .collection }?.label
    #expect(Desktop.isOwn ? label == "Login" : label?.isEmpty == false)
  }

  @Test func aLockedCollectionStaysLockedAndNobodyIsAsked() throws {
    for manners in [FakeSecretService.Manners.gnomeKeyring, .keePassXC, .kWallet] {
      let desktop = try FakeDesktop(manners.with { $0.prompts = [.unlock] })
      desktop.service.unlock()
      let key = KeyringKey(
        name: "name", collection: nil, access: .patient, client: desktop.client)
      _ = try key.make()
      desktop.service.lock()
      desktop.service.forgetCalls()
      let codes = codes(report(desktop.client, keys: ["name"]))
      #expect(codes[.collection] == "locked")
      #expect(codes[.key("name")] == "locked")
      #expect(desktop.service.callCount("Prompt") == 0)
    }
  }

  @Test func whatIsMissingIsSaidAndTheRestIsNotLookedFor() throws {
    let desktop = try FakeDesktop()
    desktop.service.manners.hasDefaultCollection = false
    #expect(codes(report(desktop.client))[.collection] == "noCollection")
    desktop.service.stop()
    #expect(
      codes(report(desktop.client, keys: ["name"])) == [
        .bus: "good", .service: "noService", .key("name"): "noService",
      ])
    desktop.bus.kill()
    #expect(
      codes(report(desktop.client, keys: ["name"])) == [.bus: "noBus", .key("name"): "noBus"])
  }

  @Test func whatHangsIsOutOfTimeOnce() throws {
    let desktop = try FakeDesktop()
    desktop.service.manners.faults["*"] = .hangs
    let report = report(desktop.client, keys: ["a", "b"], deadline: .seconds(15))
    #expect(codes(report)[.service] == "timedOut")
    #expect(codes(report)[.key("b")] == "timedOut")
  }
}
