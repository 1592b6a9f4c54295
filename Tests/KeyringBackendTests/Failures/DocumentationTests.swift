import KeyringBackend
import KeyringTesting
import StorageCore
import Testing

/// What the documentation of KeyringTesting shows, as a user of the products writes it.
@Suite struct DocumentationTests {
  @Test func aKeyringThatHangsIsAnErrorAndNotAWait() throws {
    let bus = try PrivateBus()
    let fake = try FakeSecretService(on: bus, manners: .gnomeKeyring)
    fake.addItem(
      label: "Mail", attributes: ["service": "mail", "account": "me"], secret: Array("s3cret".utf8))
    let keyring = Keyring(
      service: "mail", access: KeyringAccess(deadline: .seconds(5), bus: bus.address))
    let container = keyring.container(for: "me")
    #expect(try container.fetch(String.self) == "s3cret")

    fake.change { $0.faults["GetSecrets"] = .hangs }
    let error = #expect(throws: StorageError.self) { try container.fetch(String.self) }
    #expect(error?.code == .timedOut)
  }

  @Test func whatIsSealedIsNotSeen() throws {
    let bus = try PrivateBus()
    let fake = try FakeSecretService(on: bus)
    let storage = KeychainStorage(
      service: "com.example.test", access: KeyringAccess(bus: bus.address, allowsPlainKeys: true))
    try storage.save("s3cret", forKey: "token")
    #expect(try storage.load(String.self, forKey: "token") == "s3cret")
    #expect(!fake.items.contains { $0.secret == Array("s3cret".utf8) })
  }
}
