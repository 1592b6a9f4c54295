/// Reads JSON, RFC 8259, strictly: no comments, no trailing commas, no name twice.
///
/// A number stays text and keeps every digit. ``MemberNames`` says which names an object may have.
/// Errors give the position, and quote nothing from the text.
struct JSONReader {
  /// How deep arrays and objects may nest, as in Foundation's decoder.
  private static let depthLimit = 512

  /// Which names an object may have.
  enum Names {
    /// Names that a program can tell apart.
    case distinct
    /// The same, but the outermost names are names of values, which are compared by their bytes.
    case ofValues
    /// Any names: a program has already stored them.
    case any
  }

  private let bytes: [UInt8]
  private let names: Names
  private var position = 0

  /// The value of a text.
  ///
  /// - Parameters:
  ///   - text: the JSON.
  ///   - names: which names an object may have.
  /// - Returns: the value.
  /// - Throws: `Failure` with the position where the text is not JSON.
  static func value(of text: String, names: Names = .distinct) throws -> JSONValue {
    // RFC 8259 section 8.1: a byte order mark may be ignored.
    var reader = JSONReader(bytes: text.bytesWithoutMark, names: names)
    let value = try reader.value(depth: 0)
    reader.skipSpace()
    guard reader.position == reader.bytes.count else {
      throw reader.malformed("something follows the value")
    }
    return value
  }

  private init(bytes: [UInt8], names: Names) {
    self.bytes = bytes
    self.names = names
  }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  /// The line of a place, and the column in characters.
  ///
  /// For an early end, it is the last line that is not empty.
  private func place(_ position: Int) -> (line: Int, column: Int) {
    var before = bytes[..<position]
    if position == bytes.count {
      while let byte = before.last, Self.isSpace(byte) { before.removeLast() }
    }
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    let line = before[..<start].count { $0 == UInt8(ascii: "\n") } + 1
    return (line, String(decoding: before[start...], as: UTF8.self).count + 1)
  }

  private func malformed(_ what: String, at position: Int? = nil) -> Failure {
    let place = place(position ?? self.position)
    return Failure(
      .malformedInput, "line \(place.line) is not JSON: \(what), at column \(place.column)")
  }

  private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x0A, 0x0D, 0x09].contains(byte) }

  private mutating func skipSpace() {
    while let byte = next, Self.isSpace(byte) { position += 1 }
  }

  private mutating func take(_ byte: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: byte) else { return false }
    position += 1
    return true
  }

  private mutating func value(depth: Int) throws -> JSONValue {
    guard depth < Self.depthLimit else { throw malformed("it is nested too deeply") }
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): return try object(depth)
    case UInt8(ascii: "["): return try array(depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case nil: throw malformed("the text ends where a value is needed")
    case let byte? where byte == UInt8(ascii: "-") || (0x30...0x39).contains(byte):
      return .number(try number())
    default: throw malformed("a value is needed")
    }
  }

  private mutating func word(_ word: String, _ value: JSONValue) throws -> JSONValue {
    guard bytes[position...].starts(with: word.utf8) else { throw malformed("an unknown word") }
    position += word.utf8.count
    return value
  }

  private mutating func array(_ depth: Int) throws -> JSONValue {
    position += 1
    var values: [JSONValue] = []
    skipSpace()
    if take("]") { return .array([]) }
    repeat {
      values.append(try value(depth: depth + 1))
      skipSpace()
    } while take(",")
    guard take("]") else { throw malformed("an array is not closed") }
    return .array(values)
  }

  private mutating func object(_ depth: Int) throws -> JSONValue {
    position += 1
    var members: [(String, JSONValue)] = []
    var known = MemberNames(ofValues: names == .ofValues && depth == 0)
    skipSpace()
    if take("}") { return .object([]) }
    repeat {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw malformed("a name is needed") }
      let name = try string()
      if names != .any, let objection = known.add(name) { throw malformed(objection) }
      skipSpace()
      guard take(":") else { throw malformed("a colon is needed") }
      members.append((name, try value(depth: depth + 1)))
      skipSpace()
    } while take(",")
    guard take("}") else { throw malformed("an object is not closed") }
    return .object(members)
  }

  private mutating func digits() throws -> Int {
    let start = position
    while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
    guard position > start else { throw malformed("a digit is needed") }
    return position - start
  }

  private mutating func number() throws -> String {
    let start = position
    _ = take("-")
    let isZero = next == UInt8(ascii: "0")
    guard try digits() == 1 || !isZero else { throw malformed("a number begins with 0") }
    if take(".") { _ = try digits() }
    if take("e") || take("E") {
      if !take("+") { _ = take("-") }
      _ = try digits()
    }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private mutating func string() throws -> String {
    position += 1
    var text: [UInt8] = []
    while let byte = next {
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"): try escape(&text)
      case 0..<0x20: throw malformed("a control character in a string", at: position - 1)
      default: text.append(byte)
      }
    }
    throw malformed("a string is not closed")
  }

  private mutating func escape(_ text: inout [UInt8]) throws {
    guard let byte = next else { throw malformed("a string is not closed") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
    case UInt8(ascii: "b"): text.append(8)
    case UInt8(ascii: "f"): text.append(12)
    case UInt8(ascii: "n"): text.append(10)
    case UInt8(ascii: "r"): text.append(13)
    case UInt8(ascii: "t"): text.append(9)
    case UInt8(ascii: "u"): text += try scalar().utf8
    default: throw malformed("an unknown escape in a string", at: position - 1)
    }
  }

  /// Reads the character of `\uXXXX`, or of two such escapes that form a surrogate pair.
  private mutating func scalar() throws -> String {
    let first = try unit()
    var units = [first]
    if UTF16.isLeadSurrogate(first) {
      guard take("\\"), take("u") else { throw malformed("half a surrogate pair") }
      units.append(try unit())
    }
    guard let text = String(validating: units, as: UTF16.self) else {
      throw malformed("half a surrogate pair")
    }
    return text
  }

  private mutating func unit() throws -> UInt16 {
    let digits = bytes[position...].prefix(4)
    guard digits.count == 4, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
      let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw malformed("an escape needs four hexadecimal digits") }
    position += 4
    return unit
  }
}
