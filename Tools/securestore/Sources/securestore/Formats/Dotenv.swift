/// A file of `NAME=value` lines, as shells and dotenv libraries read it.
///
/// Supports comments, `export`, single quotes (without escapes), double quotes (with escapes), and
/// quoted values over several lines. Nothing is substituted: text that a shell or a dotenv library
/// would replace is refused, and so is text that they read differently; see ``PlainRule``.
struct Dotenv {
  /// The names and their values, in order; if a name repeats, its last value counts.
  private(set) var entries: [(name: String, value: String)] = []

  private var positions: [String: Int] = [:]
  private let bytes: [UInt8]
  private var position = 0
  /// The name whose value is being read, for errors.
  private var name: String?

  /// Reads a file.
  ///
  /// - Throws: `Failure` that names the line of the error but quotes nothing from it.
  init(_ text: String) throws {
    bytes = text.bytesWithoutMark
    if let place = bytes.firstIndex(of: 0) { throw malformed("there is a zero byte", at: place) }
    while let byte = next {
      switch byte {
      case _ where Self.isSpace(byte), UInt8(ascii: "\n"): position += 1
      case UInt8(ascii: "#"), UInt8(ascii: "\r"): try skipLine()
      default: try readEntry()
      }
    }
  }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  private func malformed(_ what: String, at place: Int? = nil) -> Failure {
    let line = bytes[..<(place ?? position)].count { $0 == UInt8(ascii: "\n") } + 1
    return Failure(.malformedInput, "line \(line): \(what)", key: name)
  }

  /// Skips the rest of the line, which some programs would end at a lone carriage return.
  private mutating func skipLine() throws {
    while let byte = next, byte != UInt8(ascii: "\n") {
      guard byte != UInt8(ascii: "\r") || isLineEnd else {
        throw malformed(PlainRule.carriageReturn)
      }
      position += 1
    }
  }

  /// Whether the carriage return here ends a line together with LF, or the file.
  private var isLineEnd: Bool {
    position + 1 == bytes.count || bytes[position + 1] == UInt8(ascii: "\n")
  }

  private mutating func skipSpace() {
    while let byte = next, Self.isSpace(byte) { position += 1 }
  }

  private mutating func readEntry() throws {
    var name = readName()
    var end = position
    skipSpace()
    let isExported = name == "export" && position > end && next != UInt8(ascii: "=")
    if isExported {
      name = readName()
      end = position
      skipSpace()
    }
    guard next == UInt8(ascii: "="), !name.isEmpty else {
      throw malformed(
        name.isEmpty
          ? "this is not NAME=value: \(Self.nameRule)"
          : "an = must follow the name: \(Self.nameRule)")
    }
    let hasSpaceBefore = position > end
    position += 1
    self.name = name
    let start = position
    skipSpace()
    let rule = PlainRule(
      isExported: isExported, hasSpaceBefore: hasSpaceBefore, hasSpaceAfter: position > start)
    let value = try readValue(rule)
    self.name = nil
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

  static func isName(_ byte: UInt8, first: Bool) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "_"):
      true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"): !first
    default: false
    }
  }

  // MARK: - Values

  private mutating func readValue(_ rule: PlainRule) throws -> String {
    guard let quote = next, quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\"") else {
      return try readPlain(rule)
    }
    if rule.isExported, rule.hasSpaceAfter, !rule.hasSpaceBefore {
      throw malformed(PlainRule.spaces)
    }
    let start = position
    position += 1
    var value: [UInt8] = []
    while let byte = next {
      position += 1
      switch byte {
      case quote:
        try requireEnd()
        return String(decoding: value, as: UTF8.self)
      case UInt8(ascii: "\r"):
        guard next == UInt8(ascii: "\n") else {
          throw malformed(PlainRule.carriageReturn, at: position - 1)
        }
      // CR LF is read as LF.
      case _ where quote == UInt8(ascii: "'"): value.append(byte)
      case UInt8(ascii: "\\"): try readEscape(&value)
      case UInt8(ascii: "`"): throw malformed(PlainRule.command, at: position - 1)
      case UInt8(ascii: "$") where PlainRule.isReplaced(next, inQuotes: true):
        throw malformed(PlainRule.replaced, at: position - 1)
      default: value.append(byte)
      }
    }
    throw malformed("a quote is not closed", at: start)
  }

  /// Reads the character after a backslash between double quotes.
  ///
  /// Shells and dotenv libraries keep a backslash before any character that is not listed here.
  private mutating func readEscape(_ value: inout [UInt8]) throws {
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
    case UInt8(ascii: "a"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "v"),
      UInt8(ascii: "'"):
      throw malformed(
        "shells keep the backslash before this character, and dotenv libraries read an escape; write two "
          + "backslashes for a backslash", at: position - 1)
    default:
      value.append(UInt8(ascii: "\\"))
      position -= 1  // a carriage return, for instance, has its own rule
    }
  }

  /// Reads a value without quotes: to the end of the line, or to a space and a `#`.
  private mutating func readPlain(_ rule: PlainRule) throws -> String {
    let start = position
    var end = position
    while let byte = next, byte != UInt8(ascii: "\n") {
      if byte == UInt8(ascii: "#"),
        position == start ? rule.hasSpaceAfter : Self.isSpace(bytes[position - 1])
      {
        break
      }
      if !Self.isSpace(byte), byte != UInt8(ascii: "\r") || !isLineEnd { end = position + 1 }
      position += 1
    }
    let value = bytes[start..<end]
    if let reason = rule.objection(to: value) { throw malformed(reason) }
    try skipLine()
    return String(decoding: value, as: UTF8.self)
  }

  /// Refuses anything but a space and a comment after a closing quote.
  private mutating func requireEnd() throws {
    let start = position
    skipSpace()
    let isApart = position > start
    if next == UInt8(ascii: "\r"), isLineEnd { position += 1 }
    switch next {
    case nil, UInt8(ascii: "\n"): return
    case UInt8(ascii: "#") where isApart: try skipLine()
    default: throw malformed("something follows the closing quote")
    }
  }
}
