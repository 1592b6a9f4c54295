import CryptoCore
import Foundation
import StorageCore
import TestSupport
import Testing

@testable import VaultBackend

/// Rows that are no records, which anybody can put into the file, and numbers that are made up.
struct StrayRowTests {
  private let vault = TemporaryVault()
  private let newSource = KeySource.key(SymmetricKey(data: Data(repeating: 9, count: 32)))
  static let strays = [
    "INSERT INTO record VALUES (-5, x'00', x'01')",
    "INSERT INTO record VALUES (900, x'00', x'01')",
    "INSERT INTO record VALUES (-5, x'00', NULL)",
    "INSERT INTO record VALUES (900, randomblob(64), zeroblob(400000000))",
    "INSERT INTO record VALUES (-5, randomblob(64), zeroblob(400000000))",
  ]

  private func fill() throws -> VaultStorage {
    let storage = vault.storage()
    for index in 0..<20 { try storage.save("value \(index)", forKey: "key \(index)") }
    return storage
  }

  private func old(_ sql: String) -> String { "ATTACH '\(vault.path).old' AS old; " + sql }

  @Test(arguments: Depth.cases(strays, day: 2))
  func aRowThatIsNoRecordStopsNobody(_ sql: String) async throws {
    let storage = try fill()
    let property = Vault<String>(storage, "key 1")
    var states = property.projectedValue.states.makeAsyncIterator()
    #expect(await states.next() == .value("value 1"))
    try vault.tamper(sql)
    #expect(try storage.load(String.self, forKey: "key 3") == "value 3")
    try storage.save("newer", forKey: "key 1")
    #expect(await states.next() == .value("newer"))
    #expect(try storage.keys().count == 20)
    #expect(try vault.run("load", "key 1") == "newer")
    let found = try storage.verify().findings
    #expect(found.map(\.kind) == [.strayRow] && found.first?.count == 1)
    try storage.compact()
    let report = try storage.verify()
    try storage.repair(accepting: report)
    #expect(try storage.verify().isSound)
    #expect(try vault.storage().load(String.self, forKey: "key 1") == "newer")
  }

  @Test(arguments: Depth.cases(strays, day: 1), [false, true])
  func aRowThatIsNoRecordKeepsNoKeyThatLeaked(_ sql: String, _ names: Bool) throws {
    _ = try fill()
    try vault.tamper(old("CREATE TABLE old.r AS SELECT * FROM record"))
    try vault.tamper(sql)
    let report = try vault.storage().keyAdministration.rotate(openedBy: newSource, names: names)
    #expect(report.reencrypted == 20 && report.remaining == 0)
    #expect(report.setAside == (sql.contains("NULL") && names ? 0 : 1))
    let next = vault.storage(newSource)
    for index in 0..<20 {
      #expect(try next.load(String.self, forKey: "key \(index)") == "value \(index)")
    }
    guard !names else { return }
    try vault.tamper(old("REPLACE INTO record SELECT sequence + 10000, name, value FROM old.r"))
    for index in 0..<20 {
      let next = vault.storage(newSource)
      let found = code { _ = try next.load(String.self, forKey: "key \(index)") }
      #expect(found == .damaged)
    }
  }

  // MARK: - What a row hides

  @Test func aRowThatIsNoRecordHidesNothingFromAVerification() throws {
    let storage = try fill()
    try vault.tamper(old("CREATE TABLE old.r AS SELECT * FROM record"))
    // Several, since a record that is put back into the same part of the manifest hides one of
    // them.
    for index in 3..<10 { try storage.save("newer", forKey: "key \(index)") }
    try storage.delete(forKey: "key 2")
    try vault.tamper(
      old(
        "DELETE FROM record WHERE value IS NULL; DELETE FROM record WHERE name IN (SELECT name FROM old.r); "
          + "INSERT INTO record SELECT * FROM old.r; INSERT INTO record VALUES (-5, x'00', x'01')"))
    let report = try storage.verify()
    let kinds = Set(report.findings.map(\.kind))
    #expect(kinds.isSuperset(of: [.strayRow, .rolledBackRecord, .addedRecord]))
    #expect(!kinds.contains(.damagedFile))
  }

  @Test func aFileThatIsMadeAnewTakesNothingUnderKeysThatWereToEnd() throws {
    let storage = try fill()
    for index in 20..<200 { try storage.save("value \(index)", forKey: "key \(index)") }
    let unfinished = vault.file("unfinished.vault")
    var isFirst = true
    _ = try storage.keyAdministration.rotate(openedBy: newSource) { _, _ in
      guard isFirst else { return }
      isFirst = false
      noError { try vault.storage(newSource).backup(to: unfinished) }
    }
    try vault.tamper("DELETE FROM meta WHERE id = 3", "unfinished.vault")
    let next = VaultStorage(at: unfinished, keySource: newSource)
    let report = try next.verify()
    #expect(report.findings.map(\.kind) == [.damagedFile] && report.oldKeyCount == 136)
    let preview = try next.previewRepair(accepting: report)
    #expect(preview.valueCount == 64 && preview.setAsideCount == 136)
    let repair = try next.repair(accepting: report)
    #expect(repair.valueCount == 64 && repair.unreadableCount == 136 && repair.setAsideCount == 136)
    let keys = (0..<200).map { "key \($0)" }
    let closed = keys.filter { key in
      code { _ = try next.load(String.self, forKey: key) } == .damaged
    }
    #expect(closed.count == 136)
    let back = try next.keyAdministration.reencrypt(readmitting: true)
    #expect(back.reencrypted == 136 && back.setAside == 0 && back.remaining == 0)
    #expect(try next.load(String.self, forKey: closed[0])?.hasPrefix("value") == true)
    #expect(try next.verify().isSound)
  }

  // MARK: - Numbers

  /// Writes a manifest as whoever has the keys can.
  private func forge(_ change: (inout Manifest) -> Void) throws {
    let storage = vault.storage()
    let keys = try #require(try storage.store.inspector()?.manifestKeys)
    let connection = try Connection(vault.path, .readOnly, until: .now + .seconds(10))
    var manifest = Manifest()
    try connection.reading { () throws(StorageError) in
      manifest = try Manifest(reading: try VaultRows.manifest(connection), keys)
    }
    change(&manifest)
    let hex = try manifest.bytes(keys).map { String(format: "%02x", $0) }.joined()
    try vault.tamper("UPDATE meta SET value = x'\(hex)' WHERE id = 2")
  }

  @Test(arguments: ([.max, 1 << 40, 1 << 63] as [UInt64]).prefix(Depth.count(3, day: 1)))
  func aCountThatIsMadeUpHoldsNobodyUp(_ count: UInt64) throws {
    _ = try fill()
    try forge { manifest in
      var records = manifest.records
      records.count = count
      manifest = Manifest(
        generation: manifest.generation, records: records, removals: manifest.removals,
        buckets: manifest.buckets)
    }
    let start = ContinuousClock.now
    let report = try vault.storage().keyAdministration.rotate(openedBy: newSource)
    #expect(report.remaining == 0)
    let next = vault.storage(newSource)
    #expect(try next.keyAdministration.reencrypt().remaining == 0)
    #expect(try next.listing().keys.count == 20)
    #expect(ContinuousClock.now - start < .seconds(300))
    #expect(try !next.verify().isSound)
  }

  @Test func aCommitThatIsMadeUpIsAnAlteredManifest() throws {
    _ = try fill()
    try forge { $0.generation = 1 << 62 }
    #expect(try vault.storage().verify().findings.map(\.kind) == [.alteredManifest])
  }
}
