import Foundation
import KeyringTesting
import StorageCore
import Testing

@testable import KeyringBackend

/// The object API and the credentials in whatever service there is: scripts/keyring-daemons.sh runs
/// these with KeePassXC and KWallet as well.
@Suite struct EveryServiceTests {
  private let desktop: Desktop
  private let service = Desktop.freshService()

  init() throws { desktop = try Desktop() }

  @Test func aContainerStoresReplacesMovesAndDrops() throws {
    let keyring = desktop.keyring(service)
    let container = keyring.container(for: "me")
    #expect(try container.fetch(String.self) == nil)
    for text in ["first", "second", "ü\u{1F511}"] {
      try container.store(text)
      #expect(try container.fetch(String.self) == text)
    }
    try container.store(Data([0, 255, 1]))
    #expect(try container.fetch(Data.self) == Data([0, 255, 1]))
    try container.store(42)
    #expect(try container.fetch(Int.self) == 42)
    #expect(try keyring.keys() == ["me"])
    let other = keyring.container(for: "you")
    #expect(try container.move(to: other))
    #expect(try container.isEmpty)
    #expect(try other.drop(Int.self) == 42)
    #expect(try keyring.keys().isEmpty)
  }

  /// KeePassXC says what kind of bytes they are by an attribute of its own.
  @Test(arguments: [FakeSecretService.Manners.gnomeKeyring, .keePassXC, .kWallet])
  func bytesAreStoredAndReplacedWhateverAServiceAdds(_ manners: FakeSecretService.Manners) throws {
    let fake = try FakeDesktop(manners)
    let container = fake.keyring("service").container(for: "me")
    for bytes in [Data([0, 255]), Data([1, 254, 0])] {
      try container.store(bytes)
      #expect(try container.fetch(Data.self) == bytes)
    }
    #expect(fake.service.items.count == 1)
  }

  @Test func aSealedItemIsReadWithItsPasscodeAlone() throws {
    let sealed = desktop.keyring(service, authentication: .devicePasscode, passcode: "1234")
    try sealed.container(for: "me").store("value")
    #expect(try sealed.container(for: "me").fetch(String.self) == "value")
    let wrong = desktop.keyring(service, authentication: .devicePasscode, passcode: "12345")
    #expect(code { _ = try wrong.container(for: "me").fetch(String.self) } == .wrongKey)
    try sealed.empty()
  }

  @Test func aCredentialIsStoredRenamedAndRemoved() throws {
    let credential = Credential<String>.service(service, account: "me", on: desktop)
    #expect(try credential.load() == nil)
    try credential.save("token")
    try credential.save("another")
    #expect(try credential.load() == "another")
    try credential.setAccount("you")
    #expect(try credential.load() == "another")
    let item = try #require(try credential.item)
    #expect(item.account == "you" && item.service == service)
    #expect(try Credential<String>.service(service, account: "me", on: desktop).load() == nil)
    try credential.update(.comment("hello"))
    #expect(try credential.item?.comment == "hello")
    try credential.remove()
    #expect(try credential.load() == nil)
  }

  @Test func attributesThatAreStoredAreReadBack() throws {
    let queries = ItemQueries(client: desktop.client)
    let access = KeyringOptions.matchFirst.union([.access(.patient)])
    let found: KeyringAttributes = [.service(service), .account("me")]
    try queries.modify([.password("secret"), .comment("ü")], found, access)
    let item = try #require(try queries.search(found, access).first)
    #expect(item.account == "me" && item.comment == "ü")
    #expect(item.data == Data("secret".utf8))
    try queries.modify([.comment("new")], found, access)
    #expect(try queries.search(found, access).first?.comment == "new")
    #expect(try queries.remove(found, access) == 1)
    #expect(try queries.search(found, access).isEmpty)
  }

  @Test func containersAreListedCopiedAndEmptied() throws {
    let keyring = desktop.keyring(service)
    let one = keyring.container(for: "one")
    try one.store("text")
    #expect(try one.copy(to: keyring.container(for: "two")))
    try keyring.container(for: "three").store(3)
    #expect(Set(try keyring.containers().map(\.account)) == ["one", "two", "three"])
    #expect(try keyring.container(for: "two").fetch(String.self) == "text")
    try one.empty()
    #expect(try one.isEmpty)
    try keyring.empty()
    #expect(try keyring.keys().isEmpty)
  }

  @Test func aCredentialOfAServerIsStoredAndRemoved() throws {
    let credential = Credential<String>.server(
      service, account: "me", protocol: .https, on: desktop)
    try credential.save("token")
    let same = Credential<String>.server(service, account: "me", on: desktop)
    #expect(try same.load() == "token")
    #expect(try same.item?.server == service)
    try credential.remove()
    #expect(try credential.load() == nil)
  }

  @Test func whatAnotherClientDoesIsTold() async throws {
    let other = desktop.anotherClient()
    let listened = KeyringChanges(client: desktop.client) { [service] change in
      change.attributes["service"] == service
    }
    var changes = listened.makeAsyncIterator()
    #expect(await changes.isListening(isolation: #isolation))
    let queries = ItemQueries(client: other)
    let access = KeyringOptions.matchFirst.union([.access(.patient)])
    let attributes: KeyringAttributes = [.service(service), .account("me")]
    try queries.modify([.password("secret")], attributes, access)
    #expect(await changes.next()?.kind == .created)
    #expect(try queries.remove(attributes, access) == 1)
    var last = await changes.next()
    while last?.kind == .changed { last = await changes.next() }
    #expect(last?.kind == .deleted)
  }
}
