import Foundation

extension Data {
  /// The length of a page of the database that this is, from its header.
  /// https://sqlite.org/fileformat2.html#page_size
  var pageSize: Int { Int(self[16]) << 8 | Int(self[17]) }

  /// Makes the first bytes of a page something else, so that it can't be read.
  ///
  /// - Parameter page: which, counted from 0.
  mutating func breakPage(_ page: Int) {
    let start = page * pageSize
    replaceSubrange(start..<start + 100, with: Data(repeating: 0xA5, count: 100))
  }
}
