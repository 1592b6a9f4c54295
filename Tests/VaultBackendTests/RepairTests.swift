import Foundation
import Testing

@testable import VaultBackend

/// What a broken file keeps of its values, and how that is told.
@Suite struct RepairTests {
  private let vault = TemporaryVault()
  private let keys = (0..<8).map { "key \($0)" }

  /// A vault of eight values as one file, closed.
  private func fill() throws -> [UInt8] {
    let storage = vault.storage()
    for key in keys { try storage.save("value of \(key)", forKey: key) }
    try storage.backup(to: vault.file("closed.vault"))
    return try vault.bytes("closed.vault")
  }

  private func storage(_ name: String, tag: Data? = nil) -> VaultStorage {
    vault.storage(named: name, tag: tag)
  }

  /// Where the table and the index have the name of the first record that the file lists.
  private func places(_ bytes: [UInt8]) throws -> (table: Int, index: Int) {
    let delegate = VaultDelegate(at: vault.file("closed.vault"), access: .readOnly)
    let name = try #require(try delegate.names().first)
    let record = try #require(try delegate.record(for: name))
    let data = Data(bytes)
    let table = try #require(data.range(of: Data(name.bytes + record))).startIndex
    let other = [data[..<table], data[(table + 1)...]].compactMap {
      $0.range(of: Data(name.bytes))?.startIndex
    }
    return (table, try #require(other.first))
  }

  /// A vault in which the table has another name of a record than its index.
  private func breakNameInTable(_ name: String = "broken.vault") throws {
    var bytes = try fill()
    bytes[try places(bytes).table + 40] ^= 0x81
    try vault.put(bytes, name)
  }

  // MARK: - Listing

  @Test func aValueWhoseNameIsDamagedInTheTableIsLoadedAndCountedAsUnreadable() throws {
    try breakNameInTable()
    let storage = storage("broken.vault")
    let listing = try storage.listing()
    #expect(listing.keys.count == 7 && listing.unreadable == 1)
    #expect(code { _ = try storage.keys() } == .damaged)
    for key in keys { #expect(try storage.load(String.self, forKey: key) == "value of \(key)") }
    #expect(try !storage.verify().isSound)
  }

  @Test func aValueWhoseNameIsDamagedInTheIndexIsCountedAsUnreadable() throws {
    var bytes = try fill()
    bytes[try places(bytes).index + 40] ^= 0x81
    try vault.put(bytes, "broken.vault")
    let listing = try storage("broken.vault").listing()
    #expect(listing.keys.count == 7 && listing.unreadable == 1)
    #expect(code { _ = try storage("broken.vault").keys() } == .damaged)
  }

  @Test(arguments: [true, false])
  func aMigrationCountsWhatTheListOfNamesDoesNotLeadTo(_ isInTable: Bool) throws {
    if isInTable {
      try breakNameInTable()
    } else {
      _ = try fill()
      try vault.tamper(
        "DELETE FROM record WHERE sequence = (SELECT min(sequence) FROM record)", "closed.vault")
      try vault.put(try vault.bytes("closed.vault"), "broken.vault")
    }
    let source = storage("broken.vault")
    let report = try SecureStorage.migrate(
      from: source, to: storage("new.vault"), removingFromSource: true)
    #expect(report.copied == 7 && report.removed == 7 && report.unreadable == 1)
    let left = try keys.filter { try source.load(String.self, forKey: $0) != nil }
    #expect(left.count == (isInTable ? 1 : 0))
  }

  // MARK: - Repairing

  @Test func aRepairKeepsAValueUnderTheNameThatItOpensUnder() throws {
    try breakNameInTable()
    let storage = storage("broken.vault")
    let report = try storage.verify()
    let preview = try storage.previewRepair(accepting: report)
    #expect(preview.valueCount == 8 && preview.unreadableCount == 0 && preview.oldFile == nil)
    let result = try storage.repair(accepting: report)
    #expect(result.valueCount == 8 && result.unreadableCount == 0)
    #expect(result.droppedCount == 0 && result.expectedCount == 8)
    let after = try storage.verify()
    #expect(after.isSound && after.recordCount == 8 && after.otherTagCount == 0)
    for key in keys { #expect(try storage.load(String.self, forKey: key) == "value of \(key)") }
    _ = try storage.keyAdministration.rotate(names: true)
    #expect(try storage.keys().sorted() == keys)
  }

  /// The values, with nil for those that can't be read, whatever the reason.
  private func loaded(_ storage: VaultStorage) -> [String?] {
    keys.map { key in
      do { return try storage.load(String.self, forKey: key) } catch { return nil }
    }
  }

  @Test func aRepairLosesNoValueThatCouldBeReadBefore() throws {
    let bytes = try fill()
    var repaired = 0
    // Beyond the file's own header and the pages of the store's.
    let size = VaultSchema.pageSize
    let kept = Set([0] + VaultPages.ofMeta(bytes))
    let places = bytes.indices.filter { bytes[$0] != 0 && !kept.contains($0 / size) }
    for place in places where place % 97 == 0 {
      let name = "flipped-\(place).vault"
      var flipped = bytes
      flipped[place] ^= 0x81
      try vault.put(flipped, name)
      let storage = storage(name)
      let before = loaded(storage)
      let report = try storage.verify()
      guard !report.isSound else {
        #expect(!before.contains(nil), "byte \(place)")
        continue
      }
      let result = try storage.repair(accepting: report)
      repaired += 1
      let after = loaded(storage)
      for (old, new) in zip(before, after) where old != nil {
        #expect(new == old, "byte \(place)")
      }
      let verified = try storage.verify()
      #expect(verified.isSound && verified.otherTagCount == result.unreadableCount)
      #expect(try storage.listing().keys.count == result.valueCount, "byte \(place)")
      // A name that is damaged in one place makes no second record.
      #expect(verified.recordCount <= 8, "byte \(place)")
    }
    #expect(repaired > 5)
  }

  @Test func aRecordThatOpensUnderNoNameCanBeDropped() throws {
    _ = try fill()
    try vault.tamper(
      "UPDATE record SET name = CAST(substr(name, 2) || x'00' AS BLOB) "
        + "WHERE sequence = (SELECT min(sequence) FROM record)")
    let storage = vault.storage()
    let kept = try storage.repair(accepting: try storage.verify())
    #expect(kept.valueCount == 7 && kept.unreadableCount == 1 && kept.oldFile == nil)
    #expect(try storage.listing().unreadable == 1)
    do {
      _ = try storage.keyAdministration.rotate(names: true)
      Issue.record("it was renamed")
    } catch {
      #expect(error.message.contains("drop"))
    }
    let report = try storage.verify()
    #expect(report.isSound && report.otherTagCount == 1)
    let preview = try storage.previewRepair(accepting: report, droppingUnreadable: true)
    #expect(preview.droppedCount == 1 && preview.valueCount == 7)
    #expect(try storage.listing().unreadable == 1)
    let dropped = try storage.repair(accepting: report, droppingUnreadable: true)
    #expect(dropped.droppedCount == 1 && dropped.valueCount == 7 && dropped.unreadableCount == 0)
    #expect(try storage.keys().count == 7)
    let after = try vault.storage().verify()
    #expect(after.isSound && after.recordCount == 7 && after.otherTagCount == 0)
    _ = try storage.keyAdministration.rotate(names: true)
    #expect(try vault.storage().keys().count == 7)
  }

  @Test func whatWasWrittenSinceTheReportIsNotDropped() throws {
    _ = try fill()
    let tagged = vault.storage(tag: Data([1]))
    try tagged.save("tagged", forKey: "tagged")
    let report = try vault.storage().verify()
    try tagged.save("newer", forKey: "tagged")
    #expect(
      code { try vault.storage().repair(accepting: report, droppingUnreadable: true) } == .busy)
    #expect(try tagged.load(String.self, forKey: "tagged") == "newer")
  }

  // MARK: - What is told

  @Test func aRepairSaysHowMuchIsLeftAndWhereTheOldFileIs() throws {
    var bytes = try fill()
    // The root of the records.
    let place = 2 * VaultSchema.pageSize
    bytes.replaceSubrange(place..<place + 60, with: Array(repeating: 0xA5, count: 60))
    try vault.put(bytes, "broken.vault")
    let storage = storage("broken.vault")
    let report = try storage.verify()
    let before = try vault.bytes("broken.vault")
    let preview = try storage.previewRepair(accepting: report)
    #expect(preview.valueCount == 0 && preview.expectedCount == 8)
    #expect(try vault.bytes("broken.vault") == before)
    let result = try storage.repair(accepting: report)
    #expect(result.valueCount == 0 && result.expectedCount == 8)
    let old = try #require(result.oldFile)
    #expect(old == vault.file("broken.vault.damaged-1").path)
    // The first pages tell how the file was opened.
    let kept = try Data(contentsOf: URL(fileURLWithPath: old))
    #expect(kept.dropFirst(place) == Data(bytes).dropFirst(place))
  }

  @Test func aRestorationSaysWhereTheOldFileIs() throws {
    _ = try fill()
    try vault.storage().save("one more", forKey: "more")
    let closed = vault.file("closed.vault")
    let inPlace = try vault.storage().restore(from: closed)
    #expect(inPlace.oldFile == nil && inPlace.recordCount == 8)
    try vault.put(Array(repeating: 0x55, count: 30_000), "broken.vault")
    let replaced = try storage("broken.vault").restore(from: closed)
    #expect(replaced.oldFile == vault.file("broken.vault.damaged-1").path)
    #expect(replaced.recordCount == 8)
    #expect(try storage("new.vault").restore(from: closed).oldFile == nil)
  }
}
