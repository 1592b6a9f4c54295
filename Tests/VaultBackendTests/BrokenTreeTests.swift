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

  /// A page as it was before a value was written anew, and the name of that.
  private func after(
    _ change: (VaultStorage) throws -> Void
  ) throws -> (old: [UInt8], pages: RecordPages, name: [UInt8]) {
    let before = try fill()
    let name = Array(
      try #require(
        try vault.storage().store.inspector()?.hash(of: "key 5").bytes))
    let page = try #require(
      before.pages(0x0D).first { page in before.cells(page).contains { $0.name == name } })
    try change(vault.storage())
    return (before.page(page), try bytes(), name)
  }

  private func manifestOffset(_ pages: RecordPages) throws -> Int? {
    let connection = try Connection(vault.file("closed.vault").path, .readOnly, until: .now)
    let manifest = try VaultRows.manifest(connection)
    return Data(pages.bytes).range(of: Data(manifest.suffix(40)))?.startIndex
  }

  /// A value that was put back where the tree leads to it, while the newer one is on a page that
  /// nothing leads to.
  private func rolledBackInTheTree(
    _ change: (inout RecordPages, _ last: Int) throws -> Void = { _, _ in }
  ) throws -> RecordPages {
    let changed = try after { try $0.save("newer", forKey: "key 5") }
    var pages = changed.pages
    let leaves = pages.pages(0x0D)
    let newer = try #require(
      leaves.first { leaf in pages.cells(leaf).contains { $0.name == changed.name } })
    // The leaf that had the older one, by a neighbour.
    let neighbours = RecordPages(bytes: changed.old).cells(0).map(\.name)
    let old = try #require(
      leaves.first { leaf in
        leaf != newer
          && pages.cells(leaf).contains {
            neighbours.contains($0.name) && $0.name != changed.name
          }
      })
    let start = old * RecordPages.size
    pages.bytes.replaceSubrange(start..<start + RecordPages.size, with: changed.old)
    // The root leads to its last page by a number of its own.
    let last = RecordPages.root * RecordPages.size + 8
    try #require(pages.number(last, 4) == newer + 1)
    pages.put(0x7FFF_FFFF, last, 4)
    try change(&pages, newer)
    return pages
  }

  @Test func whatTheTreeLeadsToIsNamedWhereNothingProvesIt() throws {
    let pages = try rolledBackInTheTree { pages, _ in
      let manifest = try #require(try manifestOffset(pages))
      pages.bytes[manifest] ^= 0x81
    }
    let repair = try repair(pages)
    #expect(repair.valueCount > 0 && repair.unprovenCount == repair.valueCount)
    #expect(try repair.unprovenKeys == storage().keys().sorted())
  }

  @Test func anOldValueIsNamedWhereTheNewerOneIsGone() throws {
    var lost: [[UInt8]] = []
    let pages = try rolledBackInTheTree { pages, newer in
      lost = pages.cells(newer).map(\.name)
      pages.damage(newer, RecordPages.size)
    }
    let repair = try repair(pages)
    #expect(repair.valueCount == 12 - (lost.count - 1))
    #expect(try storage().load(String.self, forKey: "key 5") == value(5))
    #expect(repair.unprovenKeys.contains("key 5"))
    // All of a bucket that has lost one, and no other.
    let buckets = Set(lost.compactMap { NameHash($0) }.map { Manifest.bucket(of: $0) })
    let inspector = try #require(try storage().store.inspector())
    let expected = try storage().keys().filter { key in
      buckets.contains(Manifest.bucket(of: try inspector.hash(of: key)))
    }
    #expect(repair.unprovenKeys == expected.sorted())
    #expect(repair.unprovenCount == expected.count)
  }

  // MARK: - Any damage

  /// Pages are overwritten, zeroed, swapped and flipped at random: no value is another than the one
  /// that was written.
  @Test(arguments: Depth.cases(Array(0..<UInt64(40)), day: 14)) func noDamageMakesAWrongValue(
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
