import StorageCore
import StorageTesting
import Testing

@testable import KeyringBackend

/// Values of another storage, moved into the keyring, which commits one write at a time.
@Suite struct KeychainMigrationTests {
  @Test func severalValuesAreCopiedAndMigratingAgainIsNoConflict() throws {
    let desktop = try Desktop()
    let source = InMemoryStorage()
    for number in 0..<5 { try source.save(number, forKey: "\(number)") }
    let keychain = desktop.storage()
    #expect(code { try keychain.saveAll(["a": 1, "b": 2]) } == .unsupported)
    try keychain.save(99, forKey: "4")
    let report = try SecureStorage.migrate(
      from: source, to: keychain, removingFromSource: false)
    #expect(report.copied == 4)
    #expect(report.conflicts == ["4"])
    #expect(try keychain.load(Int.self, forKey: "3") == 3)
    #expect(try keychain.load(Int.self, forKey: "4") == 99)
    let again = try SecureStorage.migrate(
      from: source, to: keychain, onConflict: .replace, removingFromSource: false)
    #expect(again.alreadyThere == 4)
    #expect(try keychain.load(Int.self, forKey: "4") == 4)
  }
}
