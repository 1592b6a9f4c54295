import KeyringTesting
import StorageCore
import Testing

@testable import KeyringBackend

/// A store in the keyring that a program says has to be there is never made.
@Suite struct MustExistTests {
  @Test(.timeLimit(.minutes(30))) func oneThatIsNotThereIsNotMade() throws {
    let desktop = try FakeDesktop()
    let storage = desktop.storage(.patient)
    #expect(code { try storage.open(.mustExist) } == .unavailable)
    #expect(code { try storage.save("value", forKey: "key") } == .unavailable)
    #expect(code { _ = try storage.load(String.self, forKey: "key") } == .unavailable)
    let other = desktop.storage(.patient, freshClient: true)
    #expect(try other.load(String.self, forKey: "key") == nil)
    try other.save("value", forKey: "key")
    try storage.open(.mustExist)
    #expect(try storage.load(String.self, forKey: "key") == "value")
    try storage.save("newer", forKey: "key")
    #expect(try other.load(String.self, forKey: "key") == "newer")
  }
}
