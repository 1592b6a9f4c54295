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
