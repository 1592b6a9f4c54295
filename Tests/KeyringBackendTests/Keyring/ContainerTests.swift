import Foundation
import KeyringTesting
import TestSupport
import Testing

@testable import KeyringBackend

@Suite struct ContainerTests {
  private let desktop: Desktop
  private let service = Desktop.freshService()
  private let keyring: Keyring
  private let container: Keyring.Container

  init() throws {
    desktop = try Desktop()
    keyring = desktop.keyring(service)
    container = keyring.container(for: "account")
  }

  @Test func anAbsentValueIsNilAndNoError() throws {
    #expect(try container.fetch(String.self) == nil)
    #expect(try container.drop(String.self) == nil)
    #expect(try container.isEmpty)
    try container.empty()
    #expect(try keyring.keys() == [])
    try keyring.empty()
  }

  @Test func aValueIsReplacedDroppedAndEmptied() throws {
    try container.store("first")
    try container.store("second")
    #expect(try !container.isEmpty)
    #expect(try Foreign(desktop).items(["service": service]).count == 1)
    #expect(try container.drop(String.self) == "second")
    #expect(try container.isEmpty)
    try container.store("third")
    try container.empty()
    #expect(try container.fetch(String.self) == nil)
  }

  @Test func theAttributesAreThoseThatOtherProgramsLookFor() throws {
    try container.store("secret")
    #expect(
      try Foreign(desktop).items(["service": service, "account": "account"]) == [
        Foreign.Item(
          label: "\(service) (account)",
          attributes: [
            "xdg:schema": "org.freedesktop.Secret.Generic", "service": service,
            "account": "account", "username": "account",
          ], secret: Array("secret".utf8))
      ])
  }

  @Test func keysAndContainersAreThoseOfTheService() throws {
    // secret-tool replaces what has its attributes and more, so it comes first.
    try Foreign(desktop).store([1], ["service": service])
    let other = desktop.keyring("another \(service)")
    try other.container(for: "account").store("other")
    for account in ["b", "a", "c"] { try keyring.container(for: account).store(account) }
    #expect(try keyring.keys() == ["a", "b", "c"])
    #expect(try keyring.containers().map(\.account) == ["a", "b", "c"])
    #expect(try keyring.containers().compactMap { try $0.fetch(String.self) } == ["a", "b", "c"])
    try keyring.empty()
    #expect(try keyring.keys() == [])
    #expect(try other.container(for: "account").fetch(String.self) == "other")
    #expect(try Foreign(desktop).lookUp(["service": service]) == [1])
  }

  @Test(.ownDaemon) func aGroupIsACollectionByAliasOrLabel() throws {
    let path = try desktop.keyring.createCollection(label: "Other things")
    let group = desktop.keyring(service, group: "Other things").container(for: "account")
    try container.store("default")
    try group.store("group")
    #expect(try container.fetch(String.self) == "default")
    #expect(try group.fetch(String.self) == "group")
    let byAlias = desktop.keyring(service, group: "default").container(for: "account")
    #expect(try byAlias.fetch(String.self) == "default")
    #expect(try group.move(to: container))
    #expect(try group.isEmpty)
    #expect(try container.fetch(String.self) == "group")
    try desktop.keyring.lock(path)
    // "Absent" is not believed of what is locked.
    #expect(code { _ = try group.fetch(String.self) } == .locked)
    let absent = desktop.keyring(service, group: "none such").container(for: "account")
    #expect(code { _ = try absent.fetch(String.self) } == .noCollection)
    #expect(code { try absent.store("x") } == .noCollection)
  }

  @Test func severalItemsAreADuplicateAndNoneIsPicked() throws {
    let foreign = try Foreign(desktop)
    try foreign.createItem([1], ["service": service, "account": "account", "more": "1"])
    try foreign.createItem([2], ["service": service, "username": "account", "more": "2"])
    #expect(code { _ = try container.fetch(Data.self) } == .duplicate)
    #expect(code { try container.store(Data([3])) } == .duplicate)
    #expect(code { try container.empty() } == .duplicate)
    #expect(code { _ = try container.drop(Data.self) } == .duplicate)
    #expect(try !container.isEmpty)
    #expect(Set(try foreign.items(["service": service]).map(\.secret)) == [[1], [2]])
    try keyring.empty()
    #expect(try container.isEmpty)
  }

  @Test func anItemOfMoreAttributesKeepsThem() throws {
    let foreign = try Foreign(desktop)
    let attributes = ["service": service, "account": "account", "tenant": "7"]
    try foreign.createItem([1], label: "theirs", attributes)
    try container.store("ours")
    let items = try foreign.items(["service": service])
    #expect(items.count == 1)
    #expect(items[0].label == "theirs")
    #expect(items[0].attributes["tenant"] == "7")
    #expect(items[0].secret == Array("ours".utf8))
  }

  @Test func aReplacedItemKeepsItsLabel() throws {
    try container.store("first")
    let foreign = try Foreign(desktop)
    var attributes = try foreign.items(["service": service])[0].attributes
    try foreign.createItem([1], label: "renamed", attributes)
    // KWallet takes no new label with a new secret.
    let label = try foreign.items(["service": service])[0].label
    #expect(label == "renamed" || Desktop.sharedService == "kwallet")
    try container.store("second")
    let item = try foreign.items(["service": service])[0]
    #expect(item.label == label)
    attributes["xdg:schema"] = "org.freedesktop.Secret.Generic"
    #expect(item.attributes == attributes)
  }

  @Test(arguments: ["\0", "a\0b"])
  func aZeroInANameIsInvalid(_ name: String) throws {
    #expect(code { try keyring.container(for: name).store("x") } == .invalid)
    #expect(code { _ = try keyring.container(for: name).fetch(String.self) } == .invalid)
    #expect(code { _ = try desktop.keyring(name).keys() } == .invalid)
  }

  @Test(.ownDaemon) func theErrorNamesTheAccount() throws {
    try desktop.keyring.lock()
    do {
      _ = try container.fetch(String.self)
      Issue.record("a locked value was read")
    } catch {
      #expect(error.code == .locked)
      #expect(error.key == "account")
    }
    #expect(code { try container.store("x") } == .locked)
    #expect(code { try container.empty() } == .locked)
    #expect(code { _ = try container.isEmpty } == .locked)
    #expect(code { _ = try keyring.keys() } == .locked)
    #expect(code { try keyring.empty() } == .locked)
    try desktop.keyring.unlock()
    #expect(try container.isEmpty)
  }

  @Test(.ownDaemon) func noBusNoServiceAndNoDefaultCollectionAreDifferent() throws {
    let bus = try PrivateBus()
    let nobody = KeyringClient { () throws(StorageError) in bus.address }
    let lonely = desktop.keyring(client: nobody).container(for: "a")
    #expect(code { _ = try lonely.fetch(String.self) } == .noService)
    #expect(code { try lonely.store("x") } == .noService)
    bus.stop()
    #expect(code { _ = try lonely.fetch(String.self) } == .noBus)
    let bare = try Desktop(hasDefaultCollection: false)
    #expect(code { _ = try bare.keyring().container(for: "a").fetch(String.self) } == .noCollection)
    #expect(code { try bare.keyring().container(for: "a").store("x") } == .noCollection)
  }

  @Test func manyThreadsLeaveOneItem() throws {
    let other = desktop.keyring(service, client: desktop.anotherClient())
    let errors = Lock<[StorageError]>([])
    Threads.run(8) { [keyring] index in
      let mine = (index % 2 == 0 ? keyring : other).container(for: "shared")
      do throws(StorageError) {
        for turn in 0..<10 { try mine.store("\(index) \(turn)") }
      } catch {
        // What was stored by a prompt is read back, and may be another's by then.
        let isOvertaken = error.code == .outcomeUnknown && !Desktop.isOwn
        if !isOvertaken { errors.withLock { $0.append(error) } }
      }
    }
    #expect(errors.withLock { $0 } == [])
    #expect(try Foreign(desktop).items(["service": service]).count == 1)
    #expect(try keyring.container(for: "shared").fetch(String.self)?.hasSuffix(" 9") == true)
  }

  // MARK: - Copying and moving

  @Test func aCopyLeavesBothAndAMoveLeavesOne() throws {
    let target = keyring.container(for: "target")
    try container.store(Data([0, 255]))
    try target.store("old")
    #expect(try container.copy(to: target))
    #expect(try container.fetch(Data.self) == Data([0, 255]))
    #expect(try target.fetch(Data.self) == Data([0, 255]))
    try container.store("new")
    #expect(try container.move(to: target))
    #expect(try container.isEmpty)
    #expect(try target.fetch(String.self) == "new")
  }

  @Test func whatIsNotThereIsNotCopied() throws {
    let target = keyring.container(for: "target")
    try target.store("old")
    #expect(try !container.copy(to: target))
    #expect(try !container.move(to: target))
    #expect(try target.fetch(String.self) == "old")
  }

  @Test(.ownDaemon) func aMoveToTheSamePlaceKeepsTheValue() throws {
    try container.store("value")
    #expect(try container.move(to: container))
    #expect(try container.copy(to: container))
    // The same collection by another name.
    let same = desktop.keyring(service, group: "login").container(for: "account")
    #expect(try container.move(to: same))
    #expect(try container.fetch(String.self) == "value")
    #expect(try Foreign(desktop).items(["service": service]).count == 1)
  }

  @Test(.ownDaemon) func aMoveWhoseTargetFailsLeavesTheSource() throws {
    try container.store("value")
    let path = try desktop.keyring.createCollection(label: "shut")
    try desktop.keyring.lock(path)
    let target = desktop.keyring(service, group: "shut").container(for: "account")
    #expect(code { try container.move(to: target) } == .locked)
    #expect(try container.fetch(String.self) == "value")
  }

  @Test func aSourceThatChangedMeanwhileIsNotDeleted() throws {
    let fake = try FakeDesktop()
    let keyring = fake.keyring("service")
    let source = keyring.container(for: "source")
    try source.store("value")
    let path = try #require(fake.service.items.first?.path)
    fake.service.change { manners in
      manners.beforeEachCall = { [service = fake.service] method in
        if method == "Collection.CreateItem" { service.setSecret(Array("newer".utf8), of: path) }
      }
    }
    #expect(code { try source.move(to: keyring.container(for: "target")) } == .busy)
    #expect(try source.fetch(String.self) == "newer")
    #expect(try keyring.container(for: "target").fetch(String.self) == "value")
  }

  @Test func aTargetThatLiesKeepsTheSource() throws {
    let fake = try FakeDesktop()
    let keyring = fake.keyring("service")
    let source = keyring.container(for: "source")
    try source.store("value")
    fake.service.change { $0.storesNothing = true }
    #expect(code { try source.move(to: keyring.container(for: "target")) } == .outcomeUnknown)
    #expect(fake.service.items.map(\.secret) == [Array("value".utf8)])
  }
}

extension FakeDesktop {
  /// A plain keyring of this desktop's default collection.
  func keyring(_ service: String, access: KeyringAccess = .asking) -> Keyring {
    Keyring(
      service: service, group: nil, accessibility: .whenUnlocked, authentication: [],
      access: access, client: client, passcode: nil)
  }
}
