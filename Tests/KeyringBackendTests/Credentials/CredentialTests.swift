import Foundation
import KeyringTesting
import StorageTesting
import Testing

@testable import KeyringBackend

@Suite(.ownDaemon) struct CredentialTests {
  private let desktop: Desktop
  private let foreign: Foreign

  init() throws {
    desktop = try Desktop()
    foreign = try Foreign(desktop)
  }

  private struct Session: Codable, Equatable, Sendable {
    var user: String
    var scopes: [Int]
  }

  private struct Program {
    @SecureCredentials<String> var token: String?
    @InternetCredentials<Data> var password: Data?
    @SecureItem<Session> var session: Session?

    init(_ desktop: Desktop) {
      _token = SecureCredentials(.service("github.token", account: "me", on: desktop))
      _password = InternetCredentials(.server("example.com", account: "me", on: desktop))
      _session = SecureItem(.item("session", on: desktop))
    }
  }

  private actor Worker {
    @SecureCredentials<String> var token: String?

    init(_ desktop: Desktop) {
      _token = SecureCredentials(.service("github.token", account: "me", on: desktop))
    }

    func set(_ value: String?) { token = value }
    func get() -> String? { token }
  }

  // MARK: - Wrappers

  @Test func aPropertyIsWhatIsStored() async throws {
    let program = Program(desktop)
    #expect(program.token == nil)
    program.token = "secret"
    program.password = Data([0, 255])
    program.session = Session(user: "ä", scopes: [1, 2])
    let other = Program(desktop)
    #expect(other.token == "secret")
    #expect(other.password == Data([0, 255]))
    #expect(other.session == Session(user: "ä", scopes: [1, 2]))
    let worker = Worker(desktop)
    #expect(await worker.get() == "secret")
    await worker.set(nil)
    #expect(program.token == nil)
    #expect(try program.$token.load() == nil)
    @SecureCredentials(.service("github.token", account: "me", on: desktop)) var local: String?
    local = "local"
    #expect(program.token == "local")
  }

  @Test func aCredentialIsAContainersItemAndTheOtherWayRound() throws {
    let container = desktop.keyring("github.token").container(for: "me")
    let program = Program(desktop)
    program.token = "one"
    #expect(try container.fetch(String.self) == "one")
    try container.store("two")
    #expect(program.token == "two")
    #expect(try foreign.items(["service": "github.token"]).count == 1)
  }

  @Test func aSecureItemIsOfItsApplicationAndNoContainers() throws {
    let program = Program(desktop)
    program.session = Session(user: "a", scopes: [])
    let application = SecureStorage.configuration.applicationID
    let items = try foreign.items(["application": application, "item": "session"])
    #expect(items.map(\.label) == ["session"])
    #expect(items.map(\.attributes["service"]) == [nil])
    #expect(
      items.first.map { String(decoding: $0.secret, as: UTF8.self).contains("\"user\"") } == true)
    #expect(try desktop.keyring(application).keys() == [])
  }

  @Test func aPropertyListIsOneToo() throws {
    let item = Credential<Session>(
      SharedCredential(
        .item("list", label: nil), account: nil, group: nil, access: .patient,
        client: desktop.client, errorClosure: nil),
      coding: PlainCoding(PropertyListEncoder(), PropertyListDecoder()))
    try item.save(Session(user: "a", scopes: [3]))
    #expect(try item.load() == Session(user: "a", scopes: [3]))
    let json = Credential<Session>.item("list", on: desktop)
    #expect(code { _ = try json.load() } == .typeMismatch)
  }

  // MARK: - Collections

  @Test func aCollectionWithoutAVisibleNameIsInvalid() throws {
    for group in ["", " ", "\t", "\u{200B}\n", "a\u{7}"] {
      let credential = Credential<String>(
        SharedCredential(
          .service("s", label: nil), account: "a", group: group, access: .patient,
          client: desktop.client, errorClosure: nil))
      #expect(code { try credential.save("x") } == .invalid)
      #expect(code { _ = try credential.load() } == .invalid)
    }
    #expect(try foreign.items(["service": "s"]).isEmpty)
  }

  // MARK: - Errors

  @Test func whatFailsIsReportedAndThrownAndNeverTraps() throws {
    let log = Lock<[StorageError]>([])
    let credential = Credential<String>.service("s", account: "a", on: desktop) { error in
      log.withLock { $0.append(error as? StorageError ?? StorageError(.io, "\(error)")) }
    }
    let property = SecureCredentials(credential)
    property.wrappedValue = "value"
    try desktop.keyring.lock()
    #expect(property.wrappedValue == nil)
    property.wrappedValue = "other"
    #expect(code { _ = try credential.load() } == .locked)
    #expect(code { try credential.save("x") } == .locked)
    #expect(code { try credential.remove() } == .locked)
    #expect(code { try credential.setAccount("b") } == .locked)
    #expect(code { _ = try credential.item } == .locked)
    credential.account = "b"
    guard case .failed(let failure) = credential.state else {
      Issue.record("the state is no failure")
      return
    }
    #expect(failure.code == .locked)
    #expect(failure.key == "s")
    // The second was refused for the failed read before it.
    #expect(log.withLock { $0.map(\.code) } == [.locked, .locked, .locked])
    try desktop.keyring.unlock()
    #expect(credential.account == "a")
    #expect(property.wrappedValue == "value")
    property.wrappedValue = "now"
    #expect(try credential.load() == "now")
  }

  @Test func aValueThatCannotBeReadIsNotReplacedByAnAssignment() throws {
    let log = Lock(0)
    let property = SecureCredentials<Int>(
      .service("s", account: "a", on: desktop) { _ in log.withLock { $0 += 1 } })
    try foreign.store(Array("text".utf8), ["service": "s", "account": "a"])
    property.wrappedValue = (property.wrappedValue ?? 0) + 1
    #expect(log.withLock { $0 } == 2)
    #expect(try foreign.lookUp(["service": "s", "account": "a"]) == Array("text".utf8))
    try property.projectedValue.save(7)
    #expect(property.wrappedValue == 7)
  }

  @Test func whatIsSealedIsNoCredential() throws {
    let sealed = desktop.keyring("s", accessibility: .whenUnlockedThisDeviceOnly)
    try sealed.container(for: "a").store("x")
    let credential = Credential<String>.service("s", account: "a", on: desktop)
    #expect(code { _ = try credential.load() } == .typeMismatch)
    #expect(code { try credential.save("y") } == .typeMismatch)
    #expect(code { try credential.remove() } == .typeMismatch)
    #expect(try sealed.container(for: "a").fetch(String.self) == "x")
  }

  @Test func aServerThatIsNoneIsInvalid() throws {
    for place in [
      CredentialPlace.server("", port: nil, path: nil, protocol: nil, label: nil),
      .server(of: nil, protocol: nil, label: nil),
      .server(of: URL(string: "just-a-path"), protocol: nil, label: nil),
    ] {
      let credential = Credential<String>(
        SharedCredential(
          place, account: nil, group: nil, access: .patient, client: desktop.client,
          errorClosure: nil))
      #expect(code { _ = try credential.load() } == .invalid)
      #expect(code { try credential.save("x") } == .invalid)
    }
  }

  @Test func aZeroInANameIsInvalid() throws {
    for credential in [
      Credential<String>.service("a\0b", on: desktop),
      .service("s", account: "\0", on: desktop), .server("s\0", on: desktop),
    ] {
      #expect(code { _ = try credential.load() } == .invalid)
      #expect(code { try credential.save("x") } == .invalid)
    }
    let credential = Credential<String>.service("s", account: "a", on: desktop)
    try credential.save("x")
    #expect(code { try credential.setAccount("\0") } == .invalid)
    #expect(try credential.load() == "x")
  }

  // MARK: - Accounts

  @Test func theAccountChangesInTheStoredItemAndAllElseStays() throws {
    try foreign.createItem(
      [1], label: "theirs", ["service": "s", "username": "old", "more": "kept"])
    let credential = Credential<Data>.service("s", account: "old", on: desktop)
    credential.account = "new"
    #expect(credential.account == "new")
    #expect(try credential.load() == Data([1]))
    let items = try foreign.items(["service": "s"])
    #expect(items.map(\.label) == ["theirs"])
    // gnome-keyring adds a schema to some items, and to some not.
    #expect(
      items.map { $0.attributes.filter { $0.key != "xdg:schema" } } == [
        ["service": "s", "username": "new", "more": "kept"]
      ])
    #expect(items.map(\.secret) == [[1]])
    try credential.setAccount(nil)
    #expect(try foreign.items(["service": "s"])[0].attributes["username"] == nil)
    #expect(credential.account == nil)
    #expect(try credential.load() == Data([1]))
  }

  @Test func anAccountThatIsNotGivenIsTheItems() throws {
    let credential = Credential<String>.service("s", on: desktop)
    #expect(credential.account == nil)
    try foreign.store([65], ["service": "s", "account": "theirs"])
    #expect(credential.account == "theirs")
    #expect(try credential.load() == "A")
    try credential.save("B")
    #expect(try foreign.lookUp(["service": "s", "account": "theirs"]) == [66])
    try foreign.store([67], ["service": "s", "account": "another"])
    #expect(code { _ = try credential.load() } == .duplicate)
    #expect(code { try credential.save("D") } == .duplicate)
    #expect(code { try credential.remove() } == .duplicate)
    #expect(code { try credential.setAccount("third") } == .duplicate)
    #expect(try Credential<String>.service("s", account: "another", on: desktop).load() == "C")
  }

  @Test func anAccountThatAnotherItemHasIsADuplicate() throws {
    let one = Credential<String>.service("s", account: "one", on: desktop)
    let two = Credential<String>.service("s", account: "two", on: desktop)
    try one.save("1")
    try two.save("2")
    #expect(code { try one.setAccount("two") } == .duplicate)
    #expect(try one.load() == "1")
    #expect(try two.load() == "2")
    #expect(one.account == "one")
  }

  @Test func anAccountMayBeSetBeforeThereIsAnItem() throws {
    let credential = Credential<String>.service("s", on: desktop)
    try credential.setAccount("me")
    try credential.save("x")
    #expect(try foreign.lookUp(["service": "s", "account": "me"]) == [120])
    let copy = credential
    try copy.setAccount("you")
    #expect(credential.account == "you")
  }

  @Test func oneServersProtocolsAndPortsAreApart() throws {
    let https = Credential<String>.server("h", account: "a", protocol: .https, on: desktop)
    let ftp = Credential<String>.server("h", account: "a", protocol: .ftp, on: desktop)
    let port = Credential<String>.server(
      "h", account: "a", protocol: .https, port: 8443, on: desktop)
    try https.save("https")
    try ftp.save("ftp")
    #expect(try https.load() == "https")
    #expect(try ftp.load() == "ftp")
    try ftp.save("ftp 2")
    try https.save("https 2")
    #expect(try ftp.load() == "ftp 2")
    #expect(try https.load() == "https 2")
    // The one without a port counts for each.
    #expect(try port.load() == "https 2")
    try ftp.remove()
    #expect(try https.load() == "https 2")
    #expect(try ftp.load() == nil)
  }

  @Test func theLabelIsThatOfANewItemAlone() throws {
    let credential = Credential<String>.service("s", label: "A label", on: desktop)
    try credential.save("x")
    #expect(try credential.item?.label == "A label")
    try credential.update(.label("Another"))
    try credential.save("y")
    #expect(try credential.item?.label == "Another")
    #expect(try credential.item?.password == "y")
    #expect(try credential.item?.created != nil)
  }
}

extension Credential {
  /// A value of a name, in this desktop's keyring.
  static func item(_ name: String, on desktop: Desktop) -> Credential {
    Credential(
      SharedCredential(
        .item(name, label: nil), account: nil, group: nil, access: .patient,
        client: desktop.client, errorClosure: nil), coding: .json)
  }
}
