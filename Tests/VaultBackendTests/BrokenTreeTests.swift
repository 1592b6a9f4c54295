import CryptoCore
import Foundation
import StorageCore
import TestSupport
import Testing

@testable import VaultBackend

/// What a repair saves of a file whose tree is broken.
@Suite struct BrokenTreeTests {
  private let vault = TemporaryVault()

  private func storage(_ name: String = "broken.vault", tag: Data? = nil) -> VaultStorage {
    vault.storage(named: name, tag: tag)
  }

  private func value(_ index: Int, _ length: Int = 400) -> String {
    "\(index) " + String(repeating: "v\(index % 10)", count: length / 2)
  }

  /// The vault as one file, closed.
  private func bytes() throws -> RecordPages {
    try vault.storage().backup(to: vault.file("closed.vault"), replacing: true)
    return RecordPages(bytes: try vault.bytes("closed.vault"))
  }

  /// A vault of so many values.
  private func fill(_ count: Int = 12, _ length: Int = 400) throws -> RecordPages {
    let storage = vault.storage()
    for index in 0..<count { try storage.save(value(index, length), forKey: "key \(index)") }
    let pages = try bytes()
    try #require(pages.bytes[RecordPages.root * RecordPages.size] == 0x05, "the root is no leaf")
    return pages
  }

  private func repair(
    _ pages: RecordPages, _ name: String = "broken.vault"
  ) throws -> VaultRepair {
    try vault.put(pages.bytes, name)
    let storage = storage(name)
    let report = try storage.verify()
    #expect(report.findings.contains { $0.kind == .damagedFile })
    let preview = try storage.previewRepair(accepting: report)
    let repair = try storage.repair(accepting: report)
    #expect(preview.valueCount == repair.valueCount)
    #expect(preview.unprovenCount == repair.unprovenCount)
    #expect(preview.unprovenKeys == repair.unprovenKeys)
    #expect(try storage.verify().isSound)
    return repair
  }

  @Test func ofALeafThatIsOverwrittenOnlyItsOwnValuesAreGone() throws {
    var pages = try fill(40)
    let leaf = pages.pages(0x0D)[3]
    let lost = pages.cells(leaf).count
    pages.damage(leaf, RecordPages.size)
    let repair = try repair(pages)
    #expect(repair.valueCount == 40 - lost && repair.expectedCount == 40)
    for index in 0..<40 {
      let found = try storage().load(String.self, forKey: "key \(index)")
      #expect(found == nil || found == value(index))
    }
  }

  @Test func valuesOfAnotherAuthenticationTagStay() throws {
    let tagged = vault.storage(tag: Data([1]))
    try tagged.save("tagged", forKey: "tagged")
    var pages = try fill(40)
    pages.damage(pages.pages(0x0D)[3], RecordPages.size)
    #expect(try repair(pages).unreadableCount == 1)
    let found = try storage(tag: Data([1])).load(String.self, forKey: "tagged")
    #expect(found == "tagged")
  }

  // MARK: - Old values

  /// A value that was put back in a file that is broken besides, with its manifest or without.
  @Test(arguments: [true, false]) func whatNothingProvesIsNamed(hasManifest: Bool) throws {
    _ = try fill()
    let attach = "ATTACH '\(vault.path).old' AS old; "
    try vault.tamper(
      attach + "CREATE TABLE old.r AS SELECT * FROM record "
        + "WHERE sequence = (SELECT min(sequence) FROM record)")
    try vault.storage().save("newer", forKey: "key 0")
    try vault.tamper(
      attach + "UPDATE record SET value = (SELECT value FROM old.r) "
        + "WHERE name = (SELECT name FROM old.r); DELETE FROM meta WHERE id = 3")
    if !hasManifest { try vault.tamper("UPDATE meta SET value = x'02' WHERE id = 2") }
    let repair = try repair(RecordPages(bytes: try vault.bytes()))
    #expect(repair.valueCount == 12 && repair.unprovenKeys.contains("key 0"))
    #expect(hasManifest ? repair.unprovenCount < 12 : repair.unprovenCount == 12)
    #expect(try storage().load(String.self, forKey: "key 0") == value(0))
  }

  // MARK: - Any damage

  /// Pages are overwritten, zeroed, swapped and flipped at random: no value is another than the one
  /// that was written.
  @Test(arguments: Depth.cases(Array(0..<UInt64(40)), day: 6)) func noDamageMakesAWrongValue(
    _ seed: UInt64
  ) throws {
    var random = SeededRandom(seed)
    var pages = try fill(30, seed % 2 == 0 ? 300 : 3000)
    let kept = Set([0] + VaultPages.ofMeta(pages.bytes))
    let others = (0..<pages.bytes.count / RecordPages.size).filter { !kept.contains($0) }
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      let page = others.randomElement(using: &random)!
      let start = page * RecordPages.size
      switch Int.random(in: 0..<4, using: &random) {
      case 0: pages.damage(page, Int.random(in: 1...RecordPages.size, using: &random))
      case 1:
        for _ in 0..<Int.random(in: 1...40, using: &random) {
          pages.bytes[start + Int.random(in: 0..<RecordPages.size, using: &random)] =
            .random(in: 0...255, using: &random)
        }
      case 2:
        let other = pages.page(others.randomElement(using: &random)!)
        pages.bytes.replaceSubrange(start..<start + RecordPages.size, with: other)
      default:
        // The head alone, where the numbers are.
        for index in 0..<12 { pages.bytes[start + index] = .random(in: 0...255, using: &random) }
      }
    }
    if seed % 3 == 0 { pages.damage(RecordPages.root) }
    try vault.put(pages.bytes, "broken.vault")
    let report = try storage().verify()
    guard !report.isSound else { return }
    let repair = try storage().repair(accepting: report)
    var count = 0
    for index in 0..<30 {
      guard let found = try? storage().load(String.self, forKey: "key \(index)") else { continue }
      #expect(found == value(index, seed % 2 == 0 ? 300 : 3000))
      count += 1
    }
    #expect(count == repair.valueCount)
    #expect(try storage().verify().isSound)
  }
}
