import StorageCore
import Testing

/// A table gives up what it holds, once, and nothing earlier.
struct RecordTableTests {
  private final class Entry: Sendable {}

  private struct Weak {
    weak var entry: Entry?
  }

  /// Fills a table with so many entries, and returns a way to see which are alive.
  private func fill(_ table: inout RecordTable<Int, Entry>, _ count: Int) -> [Weak] {
    (0..<count).map { key in
      let entry = Entry()
      table.update(entry, for: key)
      return Weak(entry: entry)
    }
  }

  @Test func entriesLiveAsLongAsTheTable() {
    var table = RecordTable<Int, Entry>()
    let entries = fill(&table, 100)
    #expect(entries.allSatisfy { $0.entry != nil })
    let count = table.count
    #expect(count == 100)
    do {
      let all = table.all
      #expect(all.allSatisfy { entries[$0.key].entry === $0.entry })
    }
    drop(table)
    #expect(entries.allSatisfy { $0.entry == nil })
  }

  private func drop(_ table: consuming RecordTable<Int, Entry>) {}

  @Test func whatIsReplacedOrRemovedIsReleased() {
    var table = RecordTable<Int, Entry>()
    let entries = fill(&table, 3)
    table.update(Entry(), for: 0)
    #expect(entries[0].entry == nil)
    let isThere = table[0] != nil
    #expect(isThere)
    table.remove(1)
    #expect(entries[1].entry == nil)
    let isGone = table[1] == nil && table.remove(1) == nil
    #expect(isGone)
    #expect(entries[2].entry != nil)
    table.removeAll()
    let count = table.count
    #expect(entries[2].entry == nil)
    #expect(count == 0)
  }

  @Test func aReplacedEntryIsTheCallersAsLongAsItIsHeld() {
    var table = RecordTable<Int, Entry>()
    let entries = fill(&table, 1)
    let old = table.update(Entry(), for: 0)
    #expect(entries[0].entry === old)
    withExtendedLifetime(old) {}
    drop(table)
  }
}
