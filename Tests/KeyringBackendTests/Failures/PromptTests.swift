import KeyringTesting
import StorageCore
import TestSupport
import Testing

@testable import KeyringBackend

@Suite struct PromptTests {
  @Test(arguments: [false, true])
  func anEndThatIsBroadcastIsHeard(_ isBroadcast: Bool) throws {
    let desktop = try FakeDesktop(
      .init().with {
        $0.prompts = Set(FakeSecretService.PromptedOperation.allCases)
        $0.broadcastsCompleted = isBroadcast
      })
    let storage = desktop.storage(.asking)
    try storage.save("kept", forKey: "key")
    try storage.save("new", forKey: "key")
    #expect(try storage.load(String.self, forKey: "key") == "new")
    try storage.delete(forKey: "key")
    #expect(try storage.load(String.self, forKey: "key") == nil)
  }

  @Test(.ownDaemon) func theRealServiceSaysThatItIsLocked() throws {
    let desktop = try Desktop()
    let storage = desktop.storage()
    try storage.save("kept", forKey: "key")
    let before = try Foreign(desktop).items([:], withContentTypes: true)
    try desktop.keyring.lock()
    #expect(code { _ = try storage.load(String.self, forKey: "key") } == .locked)
    #expect(code { try storage.save("new", forKey: "key") } == .locked)
    #expect(code { try storage.save("new", forKey: "other") } == .locked)
    #expect(code { try storage.delete(forKey: "key") } == .locked)
    let other = desktop.storage(client: desktop.anotherClient())
    #expect(code { try other.save("new", forKey: "other") } == .locked)
    try desktop.keyring.unlock()
    #expect(try Foreign(desktop).items([:], withContentTypes: true) == before)
    #expect(try storage.load(String.self, forKey: "key") == "kept")
    #expect(try storage.load(String.self, forKey: "other") == nil)
  }

  @Test(.ownDaemon) func withoutADefaultCollectionNothingIsMade() throws {
    let desktop = try Desktop(hasDefaultCollection: false)
    let storage = desktop.storage()
    #expect(code { try storage.save("new", forKey: "key") } == .noCollection)
    #expect(code { _ = try storage.load(String.self, forKey: "key") } == .noCollection)
    let named = desktop.storage(accessGroup: "Nobody's")
    #expect(code { try named.save("new", forKey: "key") } == .noCollection)
  }
}
