import CryptoCore
import Foundation
import KeyringTesting
import StorageCore
import Testing

@testable import KeyringBackend

/// Items that are no records while keys are replaced.
struct EndedKeysTests {
  /// An item whose secret is not even that of a record.
  @Test func anItemThatHoldsNoRecordDoesNotKeepAKeyThatLeaked() throws {
    let desktop = try FakeDesktop()
    let storage = desktop.storage(.patient)
    for index in 0..<5 { try storage.save("value \(index)", forKey: "key \(index)") }
    var attributes = try #require(desktop.service.items.last).attributes
    attributes["record"] = String(repeating: "a5", count: 64)
    _ = desktop.service.addItem(label: "junk", attributes: attributes, secret: [1])
    let report = try storage.keyAdministration.rotate()
    #expect(report.reencrypted == 5 && report.remaining == 0 && report.setAside == 1)
    #expect(try storage.load(String.self, forKey: "key 2") == "value 2")
  }
}
