/// A file of `NAME=value` lines, as shells and dotenv libraries read it.
///
/// Supports comments, `export`, single quotes (without escapes), double quotes (with escapes), and quoted
/// values over several lines. A `$` stands for itself: nothing is substituted.
struct Dotenv {
  /// The names and their values, in order; if a name repeats, its last value counts.
  private(set) var entries: [(name: String, value: String)] = []

  private var positions: [String: Int] = [:]
  private let bytes: [UInt8]
  private var position = 0

  /// Reads a file.
  ///
  /// - Throws: `Failure` that names the line of the error but quotes nothing from it.
  init(_ text: String) throws {
    bytes = text.bytesWithoutMark
    while let byte = next {
      switch byte {
      case _ where Self.isSpace(byte), UInt8(ascii: "\n"), UInt8(ascii: "\r"): position += 1
      case UInt8(ascii: "#"): skipLine()
      default: try readEntry()
      }
    }
  }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  private func malformed(_ what: String, at place: Int? = nil) -> Failure {
    let line = bytes[..<(place ?? position)].count { $0 == UInt8(ascii: "\n") } + 1
    return Failure(.malformedInput, "line \(line): \(what)")
  }

  private mutating func skipLine() {
    while let byte = next, byte != UInt8(ascii: "\n") { position += 1 }
  }

  private mutating func skipSpace() {
    while let byte = next, Self.isSpace(byte) { position += 1 }
  }

  private mutating func readEntry() throws {
    var name = readName()
    let end = position
    skipSpace()
    if name == "export", position > end, next != UInt8(ascii: "=") {
      name = readName()
      skipSpace()
    }
    guard next == UInt8(ascii: "="), !name.isEmpty else {
      throw malformed(
        name.isEmpty
          ? "this is not NAME=value: \(Self.nameRule)"
          : "an = must follow the name: \(Self.nameRule)")
    }
    position += 1
    skipSpace()
    let value = try readValue()
    if let known = positions[name] {
      entries[known].value = value
    } else {
      positions[name] = entries.count
      entries.append((name, value))
    }
  }

  /// Reads a name, which begins with a letter or an underscore.
  private mutating func readName() -> String {
    let start = position
    while let byte = next, Self.isName(byte, first: position == start) { position += 1 }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private static let nameRule =
    "a name has ASCII letters, digits, _, . and -, and begins with a letter or _"

  private static func isName(_ byte: UInt8, first: Bool) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "_"):
      true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"): !first
    default: false
    }
  }

  // MARK: - Values

  private mutating func readValue() throws -> String {
    guard let quote = next, quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\"") else {
      return readPlain()
    }
    let start = position
    position += 1
    var value: [UInt8] = []
    while let byte = next {
      position += 1
      if byte == quote {
        try requireEnd()
        return String(decoding: value, as: UTF8.self)
      }
      if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
        readEscape(&value)
      } else if byte == UInt8(ascii: "\r"), next == UInt8(ascii: "\n") {
        continue  // CR LF is read as LF
      } else {
        value.append(byte)
      }
    }
    throw malformed("a quote is not closed", at: start)
  }

  /// Reads the character after a backslash between double quotes; other backslashes stay.
  private mutating func readEscape(_ value: inout [UInt8]) {
    guard let byte = next else { return }
    position += 1
    switch byte {
    case UInt8(ascii: "n"): value.append(0x0A)
    case UInt8(ascii: "r"): value.append(0x0D)
    case UInt8(ascii: "t"): value.append(0x09)
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "$"), UInt8(ascii: "`"):
      value.append(byte)
    case UInt8(ascii: "\n"): break  // the line continues
    case UInt8(ascii: "\r") where next == UInt8(ascii: "\n"): position += 1
    default: value += [UInt8(ascii: "\\"), byte]
    }
  }

  /// Reads a value without quotes: to the end of the line, or to a space and a `#`.
  private mutating func readPlain() -> String {
    let start = position
    while let byte = next, byte != UInt8(ascii: "\n") {
      if byte == UInt8(ascii: "#"), position == start || Self.isSpace(bytes[position - 1]) { break }
      position += 1
    }
    var end = position
    while end > start, Self.isSpace(bytes[end - 1]) || bytes[end - 1] == 0x0D { end -= 1 }
    skipLine()
    return String(decoding: bytes[start..<end], as: UTF8.self)
  }

  /// Refuses anything but a comment after a closing quote.
  private mutating func requireEnd() throws {
    skipSpace()
    if next == UInt8(ascii: "\r") { position += 1 }
    switch next {
    case nil, UInt8(ascii: "\n"): return
    case UInt8(ascii: "#"): skipLine()
    default: throw malformed("something follows the closing quote")
    }
  }
}

// MARK: - Writing

extension Dotenv {
  /// Whether a name is valid in such a file and in a shell.
  static func isName(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.enumerated().allSatisfy { isName($1, first: $0 == 0) }
  }

  /// A line that reads back as `value` here and in most dotenv libraries, and in shells if the value has no
  /// line break.
  static func line(_ name: String, _ value: String) -> String {
    "\(name)=\(quoted(value))\n"
  }

  private static func quoted(_ value: String) -> String {
    let scalars = value.unicodeScalars
    let isPlain = scalars.allSatisfy {
      $0.isASCII
        && ($0.properties.isAlphabetic || $0.properties.numericType != nil
          || "_./:@%+,=-".unicodeScalars.contains($0))
    }
    if isPlain, !value.isEmpty { return value }
    if !scalars.contains(where: { $0 == "'" || $0 == "\n" || $0 == "\r" }) { return "'\(value)'" }
    var quoted = "\""
    for scalar in scalars {
      switch scalar {
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\r"
      case "\"", "\\", "$", "`": quoted += "\\\(scalar)"
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
