import Foundation
import Testing

@testable import VaultBackend

/// The pages of the table of records in a vault's bytes, by number from 0; the third is the table's
/// root.
struct RecordPages {
  static let size = VaultSchema.pageSize
  static let root = 2

  var bytes: [UInt8]

  func number(_ offset: Int, _ width: Int) -> Int {
    bytes[offset..<offset + width].reduce(0) { $0 << 8 | Int($1) }
  }

  mutating func put(_ number: Int, _ offset: Int, _ width: Int) {
    for index in 0..<width {
      bytes[offset + index] = UInt8(truncatingIfNeeded: number >> (8 * (width - 1 - index)))
    }
  }

  /// The pages that have a type of https://sqlite.org/fileformat2.html#b_tree_pages, those of the
  /// first two tables aside.
  func pages(_ type: UInt8) -> [Int] {
    let others = VaultPages.ofMeta(bytes)
    return (Self.root..<bytes.count / Self.size).filter {
      bytes[$0 * Self.size] == type && !others.contains($0)
    }
  }

  /// Overwrites the beginning of a page.
  mutating func damage(_ page: Int, _ count: Int = 300, _ byte: UInt8 = 0xA5) {
    let start = page * Self.size
    bytes.replaceSubrange(start..<start + count, with: repeatElement(byte, count: count))
  }

  /// Adds a page at the end, which nothing leads to.
  mutating func append(_ page: [UInt8]) {
    bytes += page
    // https://sqlite.org/fileformat2.html#in_header_database_size
    put(bytes.count / Self.size, 28, 4)
  }

  func page(_ number: Int) -> [UInt8] {
    Array(bytes[number * Self.size..<(number + 1) * Self.size])
  }

  /// Where each cell of a leaf begins, its row's number is, and its row's name.
  func cells(_ page: Int) -> [(start: Int, sequence: Int, name: [UInt8])] {
    let base = page * Self.size
    return (0..<number(base + 3, 2)).map { index in
      let start = base + number(base + 8 + 2 * index, 2)
      var offset = start
      while bytes[offset] & 0x80 != 0 { offset += 1 }
      let sequence = offset + 1
      var end = sequence
      while bytes[end] & 0x80 != 0 { end += 1 }
      let name = end + 1 + Int(bytes[end + 1])
      return (start, sequence, Array(bytes[name..<name + 64]))
    }
  }
}
