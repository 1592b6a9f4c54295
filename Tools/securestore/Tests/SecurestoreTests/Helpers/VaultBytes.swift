import Foundation
import Testing

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

extension Tool {
  /// A vault with a value GOOD, and a value BIG that does not open any more.
  static func withDamagedValue() throws -> Tool {
    let tool = try Tool()
    _ = try tool.run("set", "GOOD", input: "x")
    _ = try tool.run("set", "BIG", input: String(repeating: "y", count: 100_000))
    #expect(try tool.run("compact").code == 0)
    var bytes = try Data(contentsOf: URL(fileURLWithPath: tool.vault))
    // The value of BIG fills most pages of the file, each but for the number of the next.
    let page = bytes.count / bytes.pageSize / 2
    bytes[page * bytes.pageSize + 100] ^= 1
    try bytes.write(to: URL(fileURLWithPath: tool.vault))
    return tool
  }
}
