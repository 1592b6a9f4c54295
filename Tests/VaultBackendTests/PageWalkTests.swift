import CryptoCore
import Foundation
import StorageCore
import TestSupport
import Testing

@testable import VaultBackend

/// What a repair saves from pages that nothing leads to any more, and what it does not take from
/// there.
struct PageWalkTests {
  let vault = TemporaryVault()

  func storage(_ name: String = "broken.vault", tag: Data? = nil) -> VaultStorage {
    VaultStorage(
      at: vault.file(name), keySource: .key(TemporaryVault.key), authenticationTag: tag)
  }

  func value(_ index: Int, _ length: Int = 400) -> String {
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

  func repair(
    _ pages: RecordPages, _ name: String = "broken.vault"
  ) throws -> VaultRepair {
    try vault.put(pages.bytes, name)
    let storage = storage(name)
    let report = try storage.verify()
    #expect(report.findings.contains { $0.kind == .damagedFile })
    let preview = try storage.previewRepair(accepting: report)
    let repair = try storage.repair(accepting: report)
    #expect(preview.valueCount == repair.valueCount)
    #expect(preview.walkedCount == repair.walkedCount)
    #expect(preview.unprovenCount == repair.unprovenCount)
    #expect(preview.unprovenKeys == repair.unprovenKeys)
    #expect(try storage.verify().isSound)
    return repair
  }

  // MARK: - What is saved

  @Test(arguments: [400, 5000])
  func allValuesAreSavedWhenOnlyTheRootIsOverwritten(_ length: Int) throws {
    var pages = try fill(12, length)
    pages.damage(RecordPages.root)
    let repair = try repair(pages)
    #expect(repair.valueCount == 12 && repair.expectedCount == 12 && repair.unreadableCount == 0)
    #expect(repair.walkedCount == 12 && repair.unprovenCount == 0)
    for index in 0..<12 {
      #expect(try storage().load(String.self, forKey: "key \(index)") == value(index, length))
    }
  }

  /// A root that says that there is nothing is read to its end without an error.
  @Test func allValuesAreSavedWhenTheRootIsAnEmptyLeaf() throws {
    var pages = try fill()
    let root = RecordPages.root * RecordPages.size
    pages.damage(RecordPages.root, RecordPages.size, 0)
    pages.bytes[root] = 0x0D
    pages.put(RecordPages.size, root + 5, 2)
    let repair = try repair(pages)
    #expect(repair.valueCount == 12 && repair.walkedCount == 12 && repair.unprovenCount == 0)
  }

  @Test func allValuesAreSavedWhenAllPagesButTheLeavesAreOverwritten() throws {
    var pages = try fill(60)
    // Inner pages of tables and indexes, and the leaves of indexes.
    for type: UInt8 in [0x05, 0x02, 0x0A] {
      for page in pages.pages(type) { pages.damage(page, RecordPages.size) }
    }
    let repair = try repair(pages)
    #expect(repair.valueCount == 60 && repair.unprovenCount == 0)
  }

  @Test func ofALeafThatIsOverwrittenOnlyItsOwnValuesAreGone() throws {
    var pages = try fill(40)
    let leaf = pages.pages(0x0D)[3]
    let lost = pages.cells(leaf).count
    pages.damage(RecordPages.root)
    pages.damage(leaf, RecordPages.size)
    let repair = try repair(pages)
    #expect(repair.valueCount == 40 - lost && repair.expectedCount == 40)
    #expect(repair.walkedCount == 40 - lost)
    for index in 0..<40 {
      let found = try storage().load(String.self, forKey: "key \(index)")
      #expect(found == nil || found == value(index))
    }
  }

  @Test func valuesOfAnotherAuthenticationTagStay() throws {
    let tagged = VaultStorage(
      at: vault.url, keySource: .key(TemporaryVault.key), authenticationTag: Data([1]))
    try tagged.save("tagged", forKey: "tagged")
    var pages = try fill()
    pages.damage(RecordPages.root)
    let repair = try repair(pages)
    #expect(repair.valueCount == 12 && repair.unreadableCount == 1)
    let found = try storage(tag: Data([1])).load(String.self, forKey: "tagged")
    #expect(found == "tagged")
  }

  @Test func aSoundVaultIsNotWalked() throws {
    let pages = try fill()
    try vault.put(pages.bytes, "broken.vault")
    let report = try storage().verify()
    #expect(report.isSound)
    let repair = try storage().repair(accepting: report)
    #expect(repair.walkedCount == 0 && repair.valueCount == 12)
  }

  // MARK: - Old copies

  /// A page as it was before a value was written anew, and the name of that.
  func after(
    _ count: Int = 12, _ change: (VaultStorage) throws -> Void
  ) throws -> (old: [UInt8], pages: RecordPages, name: [UInt8]) {
    let before = try fill(count)
    let name = Array(
      try #require(
        try vault.storage().store.inspector()?.hash(of: "key 5").bytes))
    let page = try #require(
      before.pages(0x0D).first { page in before.cells(page).contains { $0.name == name } })
    try change(vault.storage())
    return (before.page(page), try bytes(), name)
  }

  /// Gives the row of a name on the last page another number, of one byte.
  private func forge(_ pages: inout RecordPages, _ name: [UInt8], _ sequence: UInt8) throws {
    let last = pages.bytes.count / RecordPages.size - 1
    let cell = try #require(pages.cells(last).first { $0.name == name })
    try #require(pages.bytes[cell.sequence] & 0x80 == 0)
    pages.bytes[cell.sequence] = sequence
  }

  @Test(arguments: [nil, 127] as [UInt8?])
  func anOldCopyDoesNotBeatANewerOne(_ forged: UInt8?) throws {
    let changed = try after { try $0.save("newer", forKey: "key 5") }
    var pages = changed.pages
    pages.append(changed.old)
    if let forged { try forge(&pages, changed.name, forged) }
    pages.damage(RecordPages.root)
    let repair = try repair(pages)
    #expect(repair.valueCount == 12 && repair.unprovenCount == 0)
    #expect(try storage().load(String.self, forKey: "key 5") == "newer")
  }

  @Test(arguments: [nil, 127] as [UInt8?])
  func aValueThatWasRemovedDoesNotComeBack(_ forged: UInt8?) throws {
    let changed = try after { try $0.delete(forKey: "key 5") }
    var pages = changed.pages
    pages.append(changed.old)
    if let forged { try forge(&pages, changed.name, forged) }
    pages.damage(RecordPages.root)
    let repair = try repair(pages)
    #expect(repair.valueCount == 11 && repair.unprovenCount == 0)
    #expect(try storage().load(String.self, forKey: "key 5") == nil)
  }

  /// Also where the removal itself is forgotten, as after a compaction.
  @Test func aRemovalThatIsForgottenIsProvenByTheManifest() throws {
    let changed = try after { storage in
      try storage.delete(forKey: "key 5")
      try storage.compact()
    }
    var pages = changed.pages
    pages.append(changed.old)
    pages.damage(RecordPages.root)
    let repair = try repair(pages)
    #expect(repair.valueCount == 11 && repair.unprovenCount == 0)
  }

  @Test func whatNothingProvesIsCountedAndTheGreaterNumberTaken() throws {
    let changed = try after { try $0.save("newer", forKey: "key 5") }
    var pages = changed.pages
    pages.append(changed.old)
    pages.damage(RecordPages.root)
    // The manifest: the second row of the table `meta`, which is authenticated.
    let manifest = try #require(try manifestOffset(pages))
    pages.bytes[manifest] ^= 0x81
    let first = try repair(pages, "first.vault")
    #expect(first.valueCount == 12 && first.unprovenCount == 12)
    #expect(try storage("first.vault").load(String.self, forKey: "key 5") == "newer")
    // Whoever can write the file can do that much, and it is told.
    try forge(&pages, changed.name, 127)
    let second = try repair(pages, "second.vault")
    #expect(second.valueCount == 12 && second.unprovenCount == 12)
    #expect(try storage("second.vault").load(String.self, forKey: "key 5") == value(5))
  }

  func manifestOffset(_ pages: RecordPages) throws -> Int? {
    let connection = try Connection(vault.file("closed.vault").path, .readOnly, until: .now)
    let manifest = try VaultRows.manifest(connection)
    return Data(pages.bytes).range(of: Data(manifest.suffix(40)))?.startIndex
  }

  // MARK: - Hostile files

  /// A vault of long values whose chains of pages are changed.
  private func repairChains(
    _ change: (inout RecordPages, _ chain: Int) -> Void
  ) throws -> VaultRepair {
    var pages = try fill(12, 9000)
    let leaf = try #require(pages.pages(0x0D).first)
    let cell = try #require(pages.cells(leaf).first)
    let others = pages.cells(leaf).map(\.start).filter { $0 > cell.start }
    let end = others.min() ?? (leaf + 1) * RecordPages.size
    change(&pages, end - 4)
    pages.damage(RecordPages.root)
    let repair = try repair(pages)
    for index in 0..<12 {
      // One whose chain is another is kept as it is, and does not open.
      let found = try? storage().load(String.self, forKey: "key \(index)")
      #expect(found == nil || found == value(index, 9000))
    }
    return repair
  }

  @Test func aChainThatLeadsIntoItselfEnds() throws {
    let repair = try repairChains { pages, chain in
      let page = pages.number(chain, 4)
      pages.put(page, (page - 1) * RecordPages.size, 4)
    }
    #expect(repair.valueCount == 11)
  }

  @Test(arguments: [0, 1, 0x7FFF_FFFF, 0xFFFF_FFFF])
  func aChainThatLeadsOutOfTheFileEnds(_ page: Int) throws {
    let repair = try repairChains { pages, chain in pages.put(page, chain, 4) }
    #expect(repair.valueCount == 11)
  }

  @Test func manyRowsOfOneChainCostNoMoreThanAFewTimesTheFile() throws {
    var pages = try fill(12, 200_000)
    let leaf = try #require(pages.pages(0x0D).first)
    let page = pages.page(leaf)
    for _ in 0..<400 { pages.append(page) }
    pages.damage(RecordPages.root)
    let start = ContinuousClock.now
    let repair = try repair(pages)
    #expect(repair.valueCount >= 11)
    #expect(ContinuousClock.now - start < .seconds(60))
  }

  @Test func aLengthBeyondThePageIsNoRow() throws {
    for size in [Int.max, 1 << 40, 1 << 28, 1 << 20, 3000] {
      var pages = try fill()
      let leaf = try #require(pages.pages(0x0D).first)
      let cell = try #require(pages.cells(leaf).first)
      // A varint of nine bytes over the length, the number and what follows.
      var bytes: [UInt8] = [UInt8(truncatingIfNeeded: size)]
      for shift in 1..<9 {
        bytes.insert(UInt8(truncatingIfNeeded: size >> (8 + 7 * (shift - 1))) | 0x80, at: 0)
      }
      pages.bytes.replaceSubrange(cell.start..<cell.start + 9, with: bytes)
      pages.damage(RecordPages.root)
      let repair = try repair(pages, "length-\(size).vault")
      #expect(repair.valueCount == 11, "\(size)")
    }
  }

  @Test func cellPointersThatLeadAnywhereAreNoRows() throws {
    for offset in [0, 1, 7, 9, 2047, 2048, 0xFFFF] {
      var pages = try fill()
      let leaf = try #require(pages.pages(0x0D).first)
      let count = pages.cells(leaf).count
      for index in 0..<count { pages.put(offset, leaf * RecordPages.size + 8 + 2 * index, 2) }
      pages.damage(RecordPages.root)
      let repair = try repair(pages, "pointer-\(offset).vault")
      #expect(repair.valueCount == 12 - count, "\(offset)")
    }
  }

  @Test func aListOfFreePagesThatLeadsInACircleEnds() throws {
    var pages = try fill()
    pages.append([UInt8](repeating: 0, count: RecordPages.size))
    let last = pages.bytes.count / RecordPages.size
    pages.put(last, 32, 4)
    pages.put(last, (last - 1) * RecordPages.size, 4)
    pages.put(0x7FFF_FFFF, (last - 1) * RecordPages.size + 4, 4)
    pages.damage(RecordPages.root)
    #expect(try repair(pages).valueCount == 12)
  }

  // MARK: - Any damage

  /// Pages are overwritten, zeroed, swapped and flipped at random: whatever is left, no value is
  /// another than the one that was written, and none is lost whose pages are whole.
  @Test(arguments: Depth.cases(Array(0..<UInt64(40)), day: 14)) func noDamageMakesAWrongValue(
    _ seed: UInt64
  ) throws {
    var random = SeededGenerator(seed)
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

  /// Numbers that are the same in every run.
  ///
  /// https://prng.di.unimi.it/splitmix64.c
  private struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var word = state
      word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
      word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
      return word ^ word >> 31
    }
  }
}
