private import Foundation

/// The code that a guide shows, and a test compiles and runs.
package struct GuideCode {
  /// What stands between the fences, each a list of lines without their indentation.
  package let blocks: [[String]]

  /// Reads a guide of a module's documentation.
  ///
  /// - Parameter name: the module and the guide: `StorageCore/Limits`.
  /// - Throws: what kept it from being read.
  package init(_ name: String) throws {
    let parts = name.split(separator: "/").map(String.init)
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    let guide = folder.appending(path: "../../Sources/\(parts[0])/\(parts[0]).docc/\(parts[1]).md")
    let text = try String(contentsOf: guide, encoding: .utf8)
    blocks = text.matches(of: #/(?s)```swift\n(.+?)```/#).map { Self.lines($0.output.1) }
  }

  /// Compares the blocks with a source file, line for line.
  ///
  /// - Parameter path: the test's file, where the code may be indented, and `private`.
  /// - Returns: the blocks that it does not hold.
  /// - Throws: what kept it from being read.
  package func blocks(missingIn path: String) throws -> [String] {
    let source = Self.lines(try String(contentsOfFile: path, encoding: .utf8))
    return blocks.filter { !source.contains($0) }.map { $0.joined(separator: "\n") }
  }

  private static func lines(_ text: some StringProtocol) -> [String] {
    text.split(separator: "\n").map {
      $0.trimmingCharacters(in: .whitespaces).replacing(#/^private /#, with: "")
    }
  }
}
