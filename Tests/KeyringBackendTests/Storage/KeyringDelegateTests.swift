import KeyringBackend
import StorageTesting
import TestSupport
import Testing

@Suite struct KeyringDelegateTests {
  // By day what its storage does with it is tried whole, below StorePromise.
  @Test(arguments: Depth.cases(DelegatePromise.all(of: KeyringDelegate.self), day: 8))
  func aKeyringKeepsIts(_ promise: DelegatePromise) throws {
    let desktop = try Desktop()
    try promise.check { desktop.delegate() }
  }
}

@Suite struct KeychainStorageTests {
  @Test func aValueIsReadBackByAnotherProgram() throws {
    let desktop = try Desktop()
    let service = Desktop.freshService()
    let storage = desktop.storage(service: service)
    try storage.save("hunter2", forKey: "password")
    #expect(try storage.load(String.self, forKey: "password") == "hunter2")
    let other = desktop.storage(service: service, client: desktop.anotherClient())
    #expect(try other.load(String.self, forKey: "password") == "hunter2")
    try other.save("correct horse", forKey: "password")
    #expect(try storage.load(String.self, forKey: "password") == "correct horse")
    try storage.delete(forKey: "password")
    #expect(try other.load(String.self, forKey: "password") == nil)
  }
}
