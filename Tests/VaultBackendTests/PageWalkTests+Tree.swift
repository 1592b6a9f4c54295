import CryptoCore
import Foundation
import Testing

@testable import VaultBackend

/// What the tree of a broken file still leads to, beside what only its pages have.
extension PageWalkTests {
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

  @Test func whatTheManifestProvesBeatsWhatTheTreeLeadsTo() throws {
    let repair = try repair(try rolledBackInTheTree())
    #expect(repair.valueCount == 12 && repair.unprovenCount == 0 && repair.unprovenKeys == [])
    #expect(repair.walkedCount > 0 && repair.walkedCount < 12, "the tree leads to some")
    #expect(try storage().load(String.self, forKey: "key 5") == "newer")
  }

  /// Also where the old one has the greater number.
  @Test func whatTheManifestProvesBeatsAGreaterNumber() throws {
    let pages = try rolledBackInTheTree { pages, newer in
      let last = try #require(pages.cells(newer).last)
      try #require(pages.bytes[last.sequence] & 0x80 == 0)
      pages.bytes[last.sequence] = 0
    }
    let repair = try repair(pages)
    #expect(repair.valueCount == 12 && repair.unprovenCount == 0)
    #expect(try storage().load(String.self, forKey: "key 5") == "newer")
  }

  @Test func whatTheTreeLeadsToIsNamedWhereNothingProvesIt() throws {
    let pages = try rolledBackInTheTree { pages, _ in
      let manifest = try #require(try manifestOffset(pages))
      pages.bytes[manifest] ^= 0x81
    }
    let repair = try repair(pages)
    #expect(repair.valueCount == 12 && repair.unprovenCount == 12)
    #expect(repair.unprovenKeys == (0..<12).map { "key \($0)" }.sorted())
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
}
