@testable import VaultBackend

/// Which of a vault's pages hold what. https://sqlite.org/fileformat2.html#b_tree_pages
enum VaultPages {
  /// The pages of the table `meta`, counted from 0: its root, the second page, and the leaves that
  /// it leads to, where it is no leaf itself.
  static func ofMeta(_ bytes: [UInt8]) -> [Int] {
    let size = VaultSchema.pageSize
    let root = Array(bytes[size..<2 * size])
    func number(_ count: Int, _ offset: Int) -> Int {
      root[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
    }
    guard root[0] == 0x05 else { return [1] }
    let cells = (0..<number(2, 3)).map { number(4, number(2, 12 + 2 * $0)) - 1 }
    return [1, number(4, 8) - 1] + cells
  }
}
