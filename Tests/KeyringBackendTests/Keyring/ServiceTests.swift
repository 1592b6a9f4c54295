import Foundation
import KeyringTesting
import Testing

@testable import KeyringBackend

/// The same calls against services of other manners.
@Suite struct ServiceTests {
  private static let services: [FakeSecretService.Manners] = [
    .init(), .gnomeKeyring, .keePassXC, .kWallet,
  ]

  @Test(arguments: services.indices)
  func everyServiceKeepsAndGivesBack(_ index: Int) throws {
    let fake = try FakeDesktop(Self.services[index])
    let keyring = fake.keyring("service")
    let container = keyring.container(for: "account")
    #expect(try container.isEmpty)
    for secret in [Data([0xff, 0, 1]), Data(), Data("text".utf8)] {
      try container.store(secret)
      #expect(try container.fetch(Data.self) == secret)
    }
    for text in ["text", "a\0b", "Käse"] {
      try container.store(text)
      #expect(try container.fetch(String.self) == text)
    }
    try container.store(42)
    #expect(try container.fetch(Int.self) == 42)
    #expect(fake.service.items.count == 1)
    let other = keyring.container(for: "other")
    #expect(try container.move(to: other))
    #expect(try keyring.keys() == ["other"])
    #expect(try other.fetch(Int.self) == 42)
    try keyring.empty()
    #expect(fake.service.items.isEmpty)
  }

  @Test(arguments: services.indices)
  func aLockedCollectionIsUnlockedByThePromptOrIsAnError(_ index: Int) throws {
    let fake = try FakeDesktop(Self.services[index])
    let container = fake.keyring("service").container(for: "account")
    try container.store("value")
    fake.service.lock()
    let silent = fake.keyring("service", access: .silent).container(for: "account")
    if !fake.service.manners.prompts.isEmpty {
      #expect(code { _ = try silent.fetch(String.self) } == .locked)
      #expect(code { try silent.store("other") } == .locked)
      #expect(code { try silent.empty() } == .locked)
    }
    #expect(try container.fetch(String.self) == "value")
    fake.service.lock()
    try container.store("again")
    fake.service.lock()
    try container.empty()
    #expect(fake.service.items.isEmpty)
  }

  @Test func aDismissedPromptIsSaidAndChangesNothing() throws {
    let fake = try FakeDesktop(.keePassXC)
    let container = fake.keyring("service").container(for: "account")
    fake.service.change { $0.promptAnswer = .dismissed }
    #expect(code { try container.store("value") } == .dismissed)
    #expect(fake.service.items.isEmpty)
    fake.service.change { $0.promptAnswer = .answered }
    try container.store("value")
    fake.service.change { $0.promptAnswer = .dismissed }
    #expect(code { try container.empty() } == .dismissed)
    #expect(code { _ = try container.drop(String.self) } == .dismissed)
    #expect(try container.fetch(String.self) == "value")
  }

  @Test func aStoreAfterAPromptIsReadBack() throws {
    let fake = try FakeDesktop(.keePassXC)
    let container = fake.keyring("service").container(for: "account")
    fake.service.change { $0.storesNothing = true }
    #expect(code { try container.store("value") } == .outcomeUnknown)
  }

  @Test func aDeleteThatOnlySaysSoIsNoDelete() throws {
    let fake = try FakeDesktop(.init())
    let container = fake.keyring("service").container(for: "account")
    try container.store("value")
    fake.service.change { $0.deletesNothing = true }
    #expect(code { try container.empty() } == .outcomeUnknown)
    #expect(code { try container.keyring.empty() } == .outcomeUnknown)
    #expect(try container.fetch(String.self) == "value")
  }

  @Test func whatKeePassXCRefusesIsInvalid() throws {
    let fake = try FakeDesktop(.keePassXC)
    let keyring = fake.keyring("{REF:T@I:0}")
    #expect(code { try keyring.container(for: "account").store("x") } == .invalid)
    #expect(code { try fake.keyring("s").container(for: "{REF:").store("x") } == .invalid)
    let queries = ItemQueries(client: fake.client)
    let options: KeyringOptions = [.access(.asking)]
    #expect(
      code { try queries.modify([.password("x")], ["Password": "y"], options) } == .invalid)
    #expect(fake.service.items.isEmpty)
  }

  @Test func whatKeePassXCAddsDoesNotMakeAnItemAnothers() throws {
    let fake = try FakeDesktop(.keePassXC)
    let container = fake.keyring("service").container(for: "account")
    try container.store("first")
    fake.service.forgetCalls()
    try container.store("second")
    // In one step that replaces the item, and not its secret alone.
    #expect(fake.service.callCount("CreateItem") == 1)
    #expect(fake.service.callCount("SetSecret") == 0)
    #expect(fake.service.items.count == 1)
    let credential = Credential<String>(
      SharedCredential(
        .service("service", label: nil), account: "account", group: nil, access: .asking,
        client: fake.client, errorClosure: nil))
    try credential.setAccount("new")
    #expect(try credential.load() == "second")
    #expect(fake.service.items.first?.attributes["account"] == "new")
    #expect(fake.service.items.first?.attributes["username"] == "new")
  }

  @Test func textIsSentAsTextAndTheRestAsBytes() throws {
    let fake = try FakeDesktop(.init())
    let container = fake.keyring("service").container(for: "account")
    func type() -> String? { fake.service.items.first?.contentType }
    try container.store("text")
    #expect(type() == "text/plain")
    try container.store("a\0b")
    #expect(type() == "application/octet-stream")
    try container.store(Data("text".utf8))
    #expect(type() == "application/octet-stream")
    try container.store(1)
    #expect(type() == "text/plain")
    try container.store(["a": 1])
    #expect(type() == "text/plain")
    let target = container.keyring.container(for: "target")
    try container.store("text")
    try container.move(to: target)
    #expect(type() == "text/plain")
  }

  @Test(arguments: [
    FakeSecretService.Lies.wrongTypes, .foreignSessions, .missingSecrets,
  ])
  func aServiceThatLiesGivesAnErrorAndNoValue(_ lie: FakeSecretService.Lies) throws {
    let fake = try FakeDesktop(.init())
    let container = fake.keyring("service").container(for: "account")
    try container.store("value")
    fake.service.change { $0.lies = lie }
    #expect(code { _ = try container.fetch(String.self) } != nil, "\(lie)")
  }

  @Test func aPathThatIsNoItemIsNoAnswer() throws {
    let fake = try FakeDesktop(.init())
    let container = fake.keyring("service").container(for: "account")
    try container.store("value")
    fake.service.change { $0.lies = .foreignPaths }
    #expect(try container.fetch(String.self) == "value")
    let queries = ItemQueries(client: fake.client)
    #expect(code { _ = try queries.search(["service": "service"], .matchAll) } != nil)
  }

  @Test func aServiceThatFindsEverythingMakesNoValueOfAnothersItem() throws {
    let fake = try FakeDesktop(.init())
    fake.service.addItem(
      label: "", attributes: ["service": "other", "account": "other"], secret: Array("x".utf8))
    let container = fake.keyring("service").container(for: "account")
    fake.service.change { $0.lies = .foundItems }
    #expect(try container.fetch(String.self) == nil)
    try container.empty()
    #expect(fake.service.items.count == 1)
  }

  @Test func aWriteWhoseAnswerIsLostIsMadeOnceOrIsUnknown() throws {
    let fake = try FakeDesktop(.init())
    let container = fake.keyring("service").container(for: "account")
    fake.service.change { $0.faults["CreateItem"] = .carriesOutAndHangs.only(1) }
    let brisk = fake.keyring("service", access: .brisk).container(for: "account")
    #expect(code { try brisk.store("value") } == .outcomeUnknown)
    #expect(fake.service.items.count == 1)
    try container.store("other")
    #expect(fake.service.items.count == 1)
    #expect(try container.fetch(String.self) == "other")
  }
}
