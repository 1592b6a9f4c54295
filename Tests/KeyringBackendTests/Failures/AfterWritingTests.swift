import Foundation
import KeyringTesting
import StorageCore
import Testing

@testable import KeyringBackend

/// What is said, and kept, when a change was made and what comes after it fails.
@Suite struct AfterWritingTests {
  private func storage(_ desktop: FakeDesktop, _ passphrase: String) -> KeychainStorage {
    KeychainStorage(
      accessGroup: nil, synchronizable: false, accessible: .whenUnlocked,
      keySource: .passphrase(passphrase), access: .brisk, client: desktop.client
    ) { [name = desktop.name] in name }
  }

  /// From the next call of `method` on, `later` is not answered.
  private func hang(_ later: String, after method: String, _ desktop: FakeDesktop) {
    desktop.service.manners.beforeEachCall = { [service = desktop.service] name in
      if name.hasSuffix(method) { service.change { $0.faults[later] = .hangs } }
    }
  }

  private func mend(_ desktop: FakeDesktop) {
    desktop.service.change {
      $0.beforeEachCall = nil
      $0.faults = [:]
    }
  }

  @Test func aChangeOfKeysThatCannotBeSeenToHoldKeepsBothKeys() throws {
    let desktop = try FakeDesktop()
    let storage = storage(desktop, "old passphrase")
    while code({ try storage.save("kept", forKey: "key") }) != nil {}
    hang("GetSecrets", after: "CreateItem", desktop)
    let new = KeySource.passphrase("new passphrase")
    #expect(code { try storage.keyAdministration.change(to: new) } == .outcomeUnknown)
    mend(desktop)
    #expect(try storage.load(String.self, forKey: "key") == "kept")
    try storage.save("more", forKey: "other")
    let opened = ["old passphrase", "new passphrase"].filter { passphrase in
      code { _ = try self.storage(desktop, passphrase).load(String.self, forKey: "key") } == nil
    }
    #expect(opened == ["new passphrase"])
  }

  @Test func aRemovalThatCannotBeSeenToHoldIsOfUnknownOutcome() throws {
    let desktop = try FakeDesktop()
    let storage = desktop.storage(.brisk)
    while code({ try storage.save("value", forKey: "key") }) != nil {}
    hang("SearchItems", after: "Delete", desktop)
    #expect(code { try storage.delete(forKey: "key") } == .outcomeUnknown)
    mend(desktop)
    #expect(try storage.load(String.self, forKey: "key") == nil)
  }

  @Test func aContainerThatWasEmptiedAndNotSeenToBeIsOfUnknownOutcome() throws {
    let desktop = try FakeDesktop()
    let container = desktop.keyring("service").container(for: "account")
    try container.store("value")
    hang("GetAll", after: "Delete", desktop)
    let brisk = desktop.keyring("service", access: .brisk).container(for: "account")
    #expect(code { try brisk.empty() } == .outcomeUnknown)
    mend(desktop)
    #expect(try container.fetch(String.self) == nil)
  }
}
