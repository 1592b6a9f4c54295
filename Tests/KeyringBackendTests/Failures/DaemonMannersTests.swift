import KeyringTesting
import StorageCore
import TestSupport
import Testing

@testable import KeyringBackend

/// What KeePassXC and KWallet do, and the specification has not.
@Suite struct DaemonMannersTests {
  @Test(arguments: 1...2)
  func aSessionWithAnotherKeyIsReplacedAndLeavesNothing(_ count: Int) throws {
    let desktop = try FakeDesktop(.kWallet.with { $0.foreignKeys = count })
    let storage = desktop.storage(.asking)
    let first = code { try storage.save("kept", forKey: "key") }
    // Two in a row, of which each is one of 256, are too many for one call.
    #expect((first == nil) == (count == 1))
    if first != nil { try storage.save("kept", forKey: "key") }
    #expect(try storage.load(String.self, forKey: "key") == "kept")
    #expect(desktop.service.items.count == 3)  // the key, the header and the record
    #expect(desktop.service.items.allSatisfy { !$0.secret.isEmpty })
  }

  @Test(arguments: 1...2) func aSessionThatIsRefusedIsAskedForAgain(_ count: Int) throws {
    let desktop = try FakeDesktop(.kWallet.with { $0.failingSessions = count })
    let storage = desktop.storage(.asking)
    try storage.save("kept", forKey: "key")
    #expect(try storage.load(String.self, forKey: "key") == "kept")
  }

  @Test func aSessionWithAnotherKeyReadsNothingWrong() throws {
    let desktop = try FakeDesktop(.kWallet)
    try desktop.storage(.asking).save("kept", forKey: "key")
    desktop.service.manners.foreignKeys = 1
    let storage = desktop.storage(.asking, freshClient: true)
    #expect(try storage.load(String.self, forKey: "key") == "kept")
  }

  @Test func whereEachItemIsLockedTheUserIsAskedForTheItemsOfAStoreAtOnce() throws {
    let desktop = try FakeDesktop(.keePassXC)
    let storage = desktop.storage(.asking)
    for number in 0..<3 { try storage.save(number, forKey: "\(number)") }
    for item in desktop.service.items { desktop.service.lockItem(item.path) }
    let silent = desktop.storage(.silent, freshClient: true)
    #expect(code { _ = try silent.load(Int.self, forKey: "0") } == .locked)
    #expect(code { try silent.save(1, forKey: "new") } == .locked)
    desktop.service.forgetCalls()
    let other = desktop.storage(.asking, freshClient: true)
    for number in 0..<3 { #expect(try other.load(Int.self, forKey: "\(number)") == number) }
    // One for the store, and one for its key.
    #expect(desktop.service.callCount("Prompt.Prompt") == 2)
    desktop.service.manners.promptAnswer = .dismissed
    for item in desktop.service.items { desktop.service.lockItem(item.path) }
    #expect(code { _ = try storage.load(Int.self, forKey: "0") } == .dismissed)
  }

  @Test(arguments: [false, true])
  func nothingIsSearchedForWhileTheServiceWouldAskByItself(_ isKnown: Bool) throws {
    let desktop = try FakeDesktop(.keePassXC)
    try desktop.storage(.asking).save("kept", forKey: "key")
    desktop.service.lock()
    let storage = desktop.storage(.silent, freshClient: !isKnown)
    #expect(code { _ = try storage.load(String.self, forKey: "key") } == .locked)
    #expect(code { _ = try storage.load(String.self, forKey: "other") } == .locked)
    #expect(code { try storage.save("new", forKey: "other") } == .locked)
    #expect(try desktop.storage(.asking).load(String.self, forKey: "key") == "kept")
  }

  @Test func aDeleteOfWhatWasLockedMeanwhileIsNotTakenForOne() throws {
    let desktop = try FakeDesktop(.kWallet)
    let storage = desktop.storage(.asking)
    try storage.save("kept", forKey: "key")
    let service = desktop.service
    service.manners.beforeEachCall = { if $0 == "Item.Delete" { service.lock() } }
    #expect(code { try storage.delete(forKey: "key") } == .outcomeUnknown)
  }

  /// What shows its items while it is locked would show the one that is looked for; what shows none
  /// has to be unlocked before "none" is believed.
  @Test(arguments: [
    (FakeSecretService.Manners.gnomeKeyring, StorageError.Code?.none), (.kWallet, nil),
    (.keePassXC, .locked),
  ])
  func aLockedCollectionThatShowsItsItemsHidesNone(
    _ manners: FakeSecretService.Manners, _ expected: StorageError.Code?
  ) throws {
    let desktop = try FakeDesktop(manners)
    desktop.service.unlock()
    let other = desktop.service.addCollection(label: "Other")
    desktop.service.unlock(other)
    desktop.service.addItem(
      label: "other", attributes: ["service": "other"], secret: [1], to: other)
    desktop.service.lock(other)
    desktop.service.forgetCalls()
    let queries = ItemQueries(client: desktop.client)
    let options = KeyringOptions.matchFirst.union([.access(.silent)])
    var found = 0
    #expect(code { found = try queries.search(["service": "none"], options).count } == expected)
    #expect(code { _ = try queries.search(["service": "other"], options) } == .locked)
    let key = KeyringKey(
      name: "none", collection: nil, access: .silent, client: desktop.client)
    #expect(code { if try key.read() != nil { found += 1 } } == expected)
    #expect(found == 0)
    #expect(desktop.service.callCount("Prompt.Prompt") == 0)
  }
}
