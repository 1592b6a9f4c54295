import Foundation

/// A problem in a dotenv file.
struct DotEnvError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// A file of `NAME=value` lines, with comments and quotes.
struct DotEnv {
  let entries: [(name: String, value: String)]

  init(contentsOf path: String) throws {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    var entries: [(String, String)] = []
    for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      let line = line.trimmingCharacters(in: .whitespaces)
      if line.isEmpty || line.hasPrefix("#") { continue }
      guard let equals = line.firstIndex(of: "="), equals != line.startIndex else {
        throw DotEnvError("line \(number + 1) is not NAME=value")
      }
      var value = String(line[line.index(after: equals)...])
      for quote in ["\"", "'"]
      where value.count >= 2 && value.hasPrefix(quote) && value.hasSuffix(quote) {
        value = String(value.dropFirst().dropLast())
        break
      }
      entries.append((String(line[..<equals]), value))
    }
    self.entries = entries
  }
}
