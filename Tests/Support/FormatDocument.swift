private import Foundation

/// The worked examples of docs/file-format.md, or of another page, by the name behind the opening
/// fence.
///
/// A block of the kind `hex` has hexadecimal digits, in which spaces mean nothing and `;` begins a
/// comment; one of the kind `text` is taken as it is. A block without a name is no example.
package struct FormatDocument: Sendable {
  /// The lines of each example, without comments and blank lines.
  private let blocks: [String: [String]]

  /// A document of this repository, read from the disk.
  package init(_ page: String = "file-format.md", testFile: String = #filePath) throws {
    let text = try Self.text(of: page, testFile: testFile)
    var blocks: [String: [String]] = [:]
    var open: (name: String, isHex: Bool)?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") {
        let words = line.dropFirst(3).split(separator: " ")
        open = words.count == 2 ? (String(words[1]), words[0] == "hex") : nil
      } else if let (name, isHex) = open {
        let content = isHex ? String(line.prefix { $0 != ";" }) : String(line)
        let digits = content.filter { $0 != " " }
        if !digits.isEmpty { blocks[name, default: []].append(digits) }
      }
    }
    self.blocks = blocks
  }

  /// What is on a page of this repository's documents, read from the disk.
  package static func text(of page: String, testFile: String = #filePath) throws -> String {
    var root = URL(fileURLWithPath: testFile).deletingLastPathComponent()
    while root.path != "/",
      !FileManager.default.fileExists(atPath: root.appendingPathComponent("Package.swift").path)
    { root.deleteLastPathComponent() }
    return try String(contentsOf: root.appendingPathComponent("docs/" + page), encoding: .utf8)
  }

  /// The names of all examples.
  package var names: Set<String> { Set(blocks.keys) }

  /// The bytes of an example; an unknown name or a wrong digit ends the run.
  package func bytes(_ name: String) -> [UInt8] {
    [UInt8](hex: lines(name).joined())
  }

  /// The bytes of each line of an example.
  package func bytesOfLines(_ name: String) -> [[UInt8]] {
    lines(name).map { [UInt8](hex: $0) }
  }

  /// The lines of an example.
  package func lines(_ name: String) -> [String] {
    guard let lines = blocks[name] else { fatalError("the document has no example \(name)") }
    return lines
  }
}
