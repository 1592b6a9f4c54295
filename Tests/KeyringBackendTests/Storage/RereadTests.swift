import KeyringTesting
import StorageCore
import Testing

@testable import KeyringBackend

/// Reads of what was read before go to where it was then, and believe nothing of that place.
@Suite struct RereadTests {
  @Test func aSecondReadIsOneCall() throws {
    let desktop = try FakeDesktop()
    let storage = desktop.storage(.patient)
    try storage.save("value", forKey: "key")
    #expect(try storage.load(String.self, forKey: "key") == "value")
    desktop.service.forgetCalls()
    for _ in 0..<10 { #expect(try storage.load(String.self, forKey: "key") == "value") }
    #expect(desktop.service.calls == ["Service.GetSecrets": 10])
  }

  @Test func whatAnotherProgramHasMadeAnewIsFound() throws {
    let desktop = try Desktop()
    let service = Desktop.freshService()
    let storage = desktop.storage(service: service)
    let other = desktop.storage(service: service, client: desktop.anotherClient())
    for key in ["a", "b", "c"] {
      try storage.save(key, forKey: key)
      #expect(try storage.load(String.self, forKey: key) == key)
    }
    // In another order, so that items may get each other's paths.
    for key in ["c", "b", "a"] { try other.delete(forKey: key) }
    for key in ["a", "b", "c"] { #expect(try storage.load(String.self, forKey: key) == nil) }
    for key in ["c", "a", "b"] { try other.save("new \(key)", forKey: key) }
    for key in ["a", "b", "c"] {
      #expect(try storage.load(String.self, forKey: key) == "new \(key)")
    }
  }

  @Test func aRecordInTheRightPlaceUnderAnotherNameIsNotTaken() throws {
    let desktop = try FakeDesktop()
    let storage = desktop.storage(.patient)
    for key in ["a", "b"] {
      try storage.save(key, forKey: key)
      #expect(try storage.load(String.self, forKey: key) == key)
    }
    let records = desktop.service.items.filter { $0.attributes["record"]?.count == 128 }
    try #require(records.count == 2)
    desktop.service.setSecret(records[0].secret, of: records[1].path)
    desktop.service.setSecret(records[1].secret, of: records[0].path)
    for key in ["a", "b"] {
      #expect(code { _ = try storage.load(String.self, forKey: key) } == .damaged)
      #expect(code { try storage.save("new", forKey: key) } == .damaged)
    }
  }

  @Test func aSecondItemOfANameKeepsAWriteFromPickingOne() throws {
    let desktop = try FakeDesktop()
    let storage = desktop.storage(.patient)
    try storage.save("mine", forKey: "key")
    #expect(try storage.load(String.self, forKey: "key") == "mine")
    let item = try #require(
      desktop.service.items.first { $0.attributes["record"]?.count == 128 })
    _ = desktop.service.addItem(label: "copy", attributes: item.attributes, secret: item.secret)
    #expect(code { try storage.save("new", forKey: "key") } == .duplicate)
    #expect(code { try storage.delete(forKey: "key") } == .duplicate)
    #expect(try storage.load(String.self, forKey: "key") == "mine")
  }

  @Test(arguments: [FakeSecretService.Manners(), .keePassXC, .kWallet])
  func whatIsLockedMeanwhileIsLockedAndNotAbsent(_ manners: FakeSecretService.Manners) throws {
    let desktop = try FakeDesktop(manners)
    let storage = desktop.storage(KeyringAccess(deadline: .seconds(60), prompts: .never))
    desktop.service.change { $0.prompts = [] }
    try storage.save("value", forKey: "key")
    #expect(try storage.load(String.self, forKey: "key") == "value")
    desktop.service.change { $0.prompts = [.unlock] }
    desktop.service.lock()
    #expect(code { _ = try storage.load(String.self, forKey: "key") } == .locked)
    #expect(code { _ = try storage.contains("key") } == .locked)
    desktop.service.unlock()
    #expect(try storage.load(String.self, forKey: "key") == "value")
  }
}
