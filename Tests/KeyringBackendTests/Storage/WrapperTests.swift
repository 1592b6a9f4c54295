import DefaultsBackend
import Foundation
import KeyringTesting
import StorageCore
import Testing

@testable import KeyringBackend

/// What a program writes: the four forms, a collection of its own, a suite whose key is in the
/// keyring.
@Suite struct WrapperTests {
  private struct User: Codable, Equatable, Sendable { var name = "Ada" }

  private struct Settings {
    @Keychain<String> var token: String?
    @UnwrappedKeychain<Int> var attempts: Int
    @CodableKeychain<User> var user: User?
    @UnwrappedCodableKeychain<User> var owner: User

    init(_ storage: KeychainStorage) {
      _token = Keychain(storage, "token")
      _attempts = UnwrappedKeychain(wrappedValue: 3, storage, "attempts")
      _user = CodableKeychain(storage, "user")
      _owner = UnwrappedCodableKeychain(wrappedValue: User(), storage, "owner")
    }
  }

  @Test func theFourFormsAreReadBackByAnotherClient() throws {
    let desktop = try Desktop()
    let service = Desktop.freshService()
    let settings = Settings(desktop.storage(service: service))
    #expect(settings.token == nil && settings.attempts == 3)
    #expect(settings.user == nil && settings.owner == User())
    settings.token = "secret"
    settings.attempts += 1
    settings.user = User(name: "Bob")
    try settings.$owner.save(User(name: "Cy"))
    let again = Settings(desktop.storage(service: service, client: desktop.anotherClient()))
    #expect(again.token == "secret" && again.attempts == 4)
    #expect(again.user == User(name: "Bob") && again.owner == User(name: "Cy"))
  }

  @Test(.ownDaemon) func aStoreInACollectionOfItsOwnIsThereAndFoundAgain() throws {
    let desktop = try Desktop()
    let service = Desktop.freshService()
    _ = try desktop.keyring.createCollection(label: "Work")
    try desktop.storage(service: service, accessGroup: "Work").save("kept", forKey: "key")
    let client = desktop.anotherClient()
    let named = desktop.storage(service: service, accessGroup: "Work", client: client)
    #expect(try named.load(String.self, forKey: "key") == "kept")
    // Without a name it is found where it is.
    let found = desktop.storage(service: service, client: client)
    #expect(try found.load(String.self, forKey: "key") == "kept")
    try desktop.keyring.lock("Work")
    #expect(code { _ = try named.load(String.self, forKey: "key") } == .locked)
    let elsewhere = desktop.storage(accessGroup: "Work", client: client)
    #expect(code { try elsewhere.save("new", forKey: "key") } == .locked)
  }

  @Test func aSuiteWhoseKeyIsInTheKeyringOpensWithIt() throws {
    let desktop = try Desktop()
    let folder = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: folder) }  // nobody is there to be told
    let name = Desktop.freshService()
    func suite(_ client: KeyringClient) -> UserDefaultsStorage {
      UserDefaultsStorage(
        DefaultsDelegate(folder: folder, suiteName: "suite"),
        keySource: .keyring(
          KeyringKey(name: name, collection: nil, access: .patient, client: client)))
    }
    try suite(desktop.client).save("kept", forKey: "key")
    let again = suite(desktop.anotherClient())
    #expect(try again.load(String.self, forKey: "key") == "kept")
  }
}
