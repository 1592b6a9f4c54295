import Foundation
import TestSupport
import Testing
import VaultBackend

@Suite struct ChangeNoticeTests {
  private let vault = TemporaryVault()

  @Test func eachOfAnotherProcesssChangesArrives() async throws {
    let property = Vault<Int>(vault.storage(), "count")
    var values = property.projectedValue.values.makeAsyncIterator()
    #expect(await values.next() == .some(nil))
    let child = try vault.serve()
    for round in 1...300 {
      _ = try #require(try child.ask("save-timed count \(round)"))
      // At least the latest is told, and here each is the latest until it has arrived.
      let value = await values.next()
      try #require(value == .some(.some(round)))
    }
  }

  @Test func whoRemovesWhatTheNoticesComeByHidesNoChange() async throws {
    let storage = vault.storage()
    try storage.save("ours", forKey: "key")
    var values = Vault<String>(storage, "key").projectedValue.values.makeAsyncIterator()
    #expect(await values.next() == .some("ours"))
    let child = try vault.serve()
    try FileManager.default.removeItem(at: vault.file("test.vault-notice"))
    #expect(try child.ask("save key again") == "saved")
    #expect(await values.next() == .some("again"))
  }

  /// The record under the old hash of the name is gone then, and that is no news of the value.
  @Test func aValueIsNotGoneWhenNamesAreHashedAnew() async throws {
    let storage = vault.storage()
    try storage.save("first", forKey: "key")
    let before = vault.file("before.vault")
    try storage.backup(to: before)
    let property = Vault<String>(storage, "key")
    var values = property.projectedValue.values.makeAsyncIterator()
    #expect(await values.next() == .some("first"))
    let child = try vault.serve()
    #expect(try child.ask("rotate same names") == "rotated")
    #expect(await values.next() == .some("first"))
    #expect(try child.ask("save key second") == "saved")
    #expect(await values.next() == .some("second"))

    _ = try await storage.async { try $0.keyAdministration.rotate(names: true) }
    #expect(await values.next() == .some("second"))
    try storage.save("third", forKey: "key")
    #expect(await values.next() == .some("third"))
    try storage.save("fourth", forKey: "key")
    #expect(await values.next() == .some("fourth"))

    try storage.restore(from: before)
    #expect(await values.next() == .some("first"))
    try storage.save("fifth", forKey: "key")
    #expect(await values.next() == .some("fifth"))
    try storage.delete(forKey: "key")
    #expect(await values.next() == .some(nil))
    #expect(try child.ask("rotate same names") == "rotated")
    #expect(try child.ask("save key sixth") == "saved")
    #expect(await values.next() == .some("sixth"))
  }
}
