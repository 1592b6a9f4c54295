import Foundation
import Testing

@testable import KeyringTesting

@Suite struct GnomeKeyringTests {
  @Test func itStartsUnlockedWithADefaultCollection() throws {
    let bus = try PrivateBus()
    let keyring = try GnomeKeyring(on: bus, password: "a pass word, \u{E9}")
    #expect(try keyring.isLocked() == false)
    let alias = try RawClient(bus).call("Service.ReadAlias", .string("default"))
    #expect(alias == [.objectPath("/org/freedesktop/secrets/collection/login")])
    #expect(FileManager.default.fileExists(atPath: keyring.dataFolder + "/keyrings/login.keyring"))
  }

  @Test func aCollectionIsLockedAndUnlockedWithoutAPrompt() throws {
    let bus = try PrivateBus()
    let keyring = try GnomeKeyring(on: bus)
    let client = try RawClient(bus)
    let item = try client.create(["a": "b"]).item
    try keyring.lock()
    #expect(try keyring.isLocked())
    #expect(try client.search(["a": "b"]).locked == [item])
    #expect(throws: KeyringTestingError.self) { try keyring.unlock(password: "wrong") }
    #expect(try keyring.isLocked())
    try keyring.unlock()
    #expect(try client.getSecrets(of: item) == [item: [1]])
  }

  @Test func aCollectionIsMadeWithoutAPrompt() throws {
    let bus = try PrivateBus()
    let keyring = try GnomeKeyring(on: bus)
    let path = try keyring.createCollection(label: "Work", password: "other")
    #expect(try keyring.isLocked(path) == false)
    try keyring.lock(path)
    try keyring.unlock(path, password: "other")
    #expect(try RawClient(bus).property("Label", of: path, "Collection") == .string("Work"))
  }

  @Test func whatItKeptIsThereAfterItWasKilled() throws {
    let bus = try PrivateBus()
    let keyring = try GnomeKeyring(on: bus)
    let item = try RawClient(bus).create(["a": "b"], [1, 2, 3]).item
    keyring.kill()
    #expect(try bus.connect().hasOwner(SecretServiceName.bus) == false)
    #expect(throws: KeyringTestingError.self) { try keyring.lock() }
    try keyring.restart(unlocked: false)
    #expect(try keyring.isLocked())
    try keyring.restart()
    #expect(try keyring.isLocked() == false)
    #expect(try RawClient(bus).getSecrets(of: item) == [item: [1, 2, 3]])
  }

  @Test func aBusThatIsGoneGivesAnErrorAtOnce() throws {
    let bus = try PrivateBus()
    bus.stop()
    #expect(throws: KeyringTestingError.self) { try GnomeKeyring(on: bus) }
    #expect(throws: KeyringTestingError.self) { try FakeSecretService(on: bus) }
  }
}
