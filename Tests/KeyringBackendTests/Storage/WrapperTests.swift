import KeyringTesting
import StorageCore
import Testing

@testable import KeyringBackend

/// A collection of its own, and a suite whose key is in the keyring.
@Suite struct WrapperTests {
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
}
