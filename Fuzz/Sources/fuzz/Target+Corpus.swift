import Foundation

extension Target {
  /// The inputs of `Corpus/NAME.txt`, in base64, one a line: what was found once, and what libFuzzer
  /// kept since no other input reaches the same code.
  func corpus() throws -> [[UInt8]] {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let file = folder.appending(path: "../../Corpus/\(name).txt").standardizedFileURL
    return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { line in
      guard let input = Data(base64Encoded: String(line)) else {
        finding("Corpus/\(name).txt has a line that is not base64")
      }
      return Array(input)
    }
  }
}
