internal import CryptoCore
internal import StorageCore

/// Finds the rows of the table of records by searching all pages of a file.
///
/// For a file whose tree is broken: https://sqlite.org/fileformat2.html#b_tree_pages. Anybody may
/// have written the file: each number is checked against the bytes present before it is used, each
/// page of a chain is counted, and no row is trusted. A record proves itself by its seal, and
/// ``RowChoice`` finds out which of two is newer.
struct PageWalker {
  /// A row as some page has it.
  struct Row {
    let sequence: Int64
    let name: NameHash
    /// How many bytes its record has; nil for a removal.
    let recordCount: Int?
    /// Whether the file lists the page as free.
    let isFree: Bool
    /// Where its record begins, how many bytes of it are on this page, and the page that has the
    /// next.
    fileprivate let start: Int
    fileprivate let localCount: Int
    fileprivate let overflow: Int
  }

  /// How often a page may be part of a chain.
  ///
  /// A page is in one chain in a sound file, and in a few where old rows are left. Hostile chains
  /// cost at most this many passes over the file.
  private static let useLimit: UInt8 = 8
  /// The column `sequence` is the row's number, and has no bytes; the column `name` is a blob of
  /// 64.
  private static let (noBytes, nameType): (UInt64, UInt64) = (0, 140)

  private let image: FileImage
  private let pageSize: Int
  /// How much of a page SQLite uses.
  private let usable: Int
  private let pageCount: Int
  private let free: Set<Int>
  private var uses: [UInt8]

  /// - Returns: nil when the file's header has no valid page size.
  init?(_ image: FileImage) {
    // https://sqlite.org/fileformat2.html#the_database_header
    guard let field = image.number(at: 16, of: 2), let reserved = image.number(at: 20, of: 1)
    else { return nil }
    let size = field == 1 ? 65536 : Int(field)
    guard size >= 512, size & (size - 1) == 0, size - Int(reserved) >= 480 else { return nil }
    self.image = image
    pageSize = size
    usable = size - Int(reserved)
    pageCount = image.count / size
    uses = [UInt8](repeating: 0, count: pageCount + 1)
    free = Self.freePages(image, pageSize: size, usable: usable, count: pageCount)
  }

  /// The pages in the file's list of free pages.
  ///
  /// https://sqlite.org/fileformat2.html#the_freelist
  private static func freePages(
    _ image: FileImage, pageSize: Int, usable: Int, count: Int
  ) -> Set<Int> {
    var free: Set<Int> = []
    var trunk = image.number(at: 32).map { Int($0) } ?? 0
    while (2...max(2, count)).contains(trunk), free.insert(trunk).inserted {
      let base = (trunk - 1) * pageSize
      guard let next = image.number(at: base), let leaves = image.number(at: base + 4) else {
        break
      }
      for index in 0..<min(Int(leaves), usable / 4 - 2) {
        guard let leaf = image.number(at: base + 8 + 4 * index) else { break }
        if leaf >= 2, leaf <= count { free.insert(Int(leaf)) }
      }
      trunk = Int(next)
    }
    return free
  }

  /// Goes through all rows, page after page.
  func visit(_ body: (Row) -> Void) {
    // The first page holds the schema.
    guard pageCount >= 2 else { return }
    for page in 2...pageCount {
      let base = (page - 1) * pageSize
      // 0x0D: a leaf of a table.
      guard image.number(at: base, of: 1) == 0x0D, let count = image.number(at: base + 3, of: 2)
      else { continue }
      let firstCell = 8 + 2 * Int(count)
      guard firstCell <= usable else { continue }
      for index in 0..<Int(count) {
        guard let offset = image.number(at: base + 8 + 2 * index, of: 2).map({ Int($0) }),
          offset >= firstCell, offset < usable,
          let row = row(at: base + offset, upTo: base + usable, isFree: free.contains(page))
        else { continue }
        body(row)
      }
    }
  }

  /// The row of a cell that begins at `start` and ends before `end`; nil for any other cell, such
  /// as one of another table.
  private func row(at start: Int, upTo end: Int, isFree: Bool) -> Row? {
    var offset = start
    guard let size = varint(&offset, end), let sequence = varint(&offset, end),
      size <= UInt64(min(image.count, VaultSchema.recordLimit + NameHash.byteCount + 16))
    else { return nil }
    let payload = offset
    let local = localCount(of: Int(size))
    let hasMore = local < Int(size)
    guard payload + local + (hasMore ? 4 : 0) <= end else { return nil }
    let localEnd = payload + local
    // https://sqlite.org/fileformat2.html#record_format
    guard let headSize = varint(&offset, localEnd), varint(&offset, localEnd) == Self.noBytes,
      varint(&offset, localEnd) == Self.nameType, let type = varint(&offset, localEnd),
      headSize == UInt64(offset - payload)
    else { return nil }
    // A blob's type is even and at least 12; the type of NULL is 0.
    guard type == 0 || type >= 12 && type % 2 == 0 else { return nil }
    let recordCount = type == 0 ? nil : (type - 12) / 2
    let head = UInt64(offset - payload + NameHash.byteCount)
    guard head + (recordCount ?? 0) == size, offset + NameHash.byteCount <= localEnd else {
      return nil
    }
    var bytes: [UInt8] = []
    guard image.append(offset..<offset + NameHash.byteCount, to: &bytes),
      let name = NameHash(bytes)
    else { return nil }
    let record = offset + NameHash.byteCount
    return Row(
      sequence: Int64(bitPattern: sequence), name: name, recordCount: recordCount.map { Int($0) },
      isFree: isFree, start: record, localCount: localEnd - record,
      overflow: hasMore ? Int(image.number(at: localEnd) ?? 0) : 0)
  }

  /// How much of a payload is on the page of its row, by the rule of SQLite's file format.
  private func localCount(of size: Int) -> Int {
    let longest = usable - 35
    guard size > longest else { return size }
    let least = (usable - 12) * 32 / 255 - 23
    let count = least + (size - least) % (usable - 4)
    return count <= longest ? count : least
  }

  /// The record of a row, with the parts of it on other pages.
  ///
  /// - Returns: nil for a removal, and if the chain leads out of the file, or through a page that
  ///   is part of many other chains.
  mutating func record(of row: Row) -> [UInt8]? {
    guard let count = row.recordCount else { return nil }
    var record: [UInt8] = []
    guard image.append(row.start..<row.start + row.localCount, to: &record) else { return nil }
    var page = row.overflow
    // Each page adds bytes, so a loop of pages ends when the record has its stated length.
    while record.count < count {
      guard page >= 2, page <= pageCount, uses[page] < Self.useLimit else { return nil }
      uses[page] += 1
      let base = (page - 1) * pageSize
      let part = min(count - record.count, usable - 4)
      guard let next = image.number(at: base), image.append(base + 4..<base + 4 + part, to: &record)
      else { return nil }
      page = Int(next)
    }
    return record
  }

  /// Counts the chains of each page from zero again.
  mutating func forgetUses() {
    uses = [UInt8](repeating: 0, count: pageCount + 1)
  }

  /// A number of one to nine bytes.
  ///
  /// https://sqlite.org/fileformat2.html#varint
  private func varint(_ offset: inout Int, _ end: Int) -> UInt64? {
    var number: UInt64 = 0
    for index in 0..<9 {
      guard offset < end, let byte = image.number(at: offset, of: 1) else { return nil }
      offset += 1
      if index == 8 { return number << 8 | byte }
      number = number << 7 | byte & 0x7F
      if byte & 0x80 == 0 { return number }
    }
    return number
  }
}
