/// Checks that text is JSON, RFC 8259; numbers may have any size and any number of digits.
///
/// Foundation's readers refuse numbers that no type of theirs holds.
package struct JSONSyntax {
  /// How deep arrays and objects may nest, as in Foundation's decoder.
  private static let depthLimit = 512

  private var rest: Substring.UTF8View

  /// Whether the text is one JSON value.
  package static func isValue(_ text: String) -> Bool {
    var syntax = JSONSyntax(rest: text[...].utf8)
    return syntax.takeValue(depth: 0) && syntax.rest.isEmpty
  }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: scalar) else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func takeWord(_ word: String) -> Bool {
    guard rest.starts(with: word.utf8) else { return false }
    rest.removeFirst(word.utf8.count)
    return true
  }

  private mutating func skipSpace() {
    rest = rest.drop { [0x20, 0x0A, 0x0D, 0x09].contains($0) }
  }

  /// Takes a value and the white space around it.
  private mutating func takeValue(depth: Int) -> Bool {
    guard depth <= Self.depthLimit else { return false }
    skipSpace()
    defer { skipSpace() }
    switch rest.first {
    case UInt8(ascii: "{"):
      return takeElements("{", "}") { syntax in
        syntax.skipSpace()
        guard syntax.takeString() else { return false }
        syntax.skipSpace()
        return syntax.take(":") && syntax.takeValue(depth: depth + 1)
      }
    case UInt8(ascii: "["):
      return takeElements("[", "]") { $0.takeValue(depth: depth + 1) }
    case UInt8(ascii: "\""): return takeString()
    case UInt8(ascii: "t"): return takeWord("true")
    case UInt8(ascii: "f"): return takeWord("false")
    case UInt8(ascii: "n"): return takeWord("null")
    default: return takeNumber()
    }
  }

  private mutating func takeElements(
    _ open: Unicode.Scalar, _ close: Unicode.Scalar, _ element: (inout JSONSyntax) -> Bool
  ) -> Bool {
    guard take(open) else { return false }
    skipSpace()
    if take(close) { return true }
    repeat {
      guard element(&self) else { return false }
    } while take(",")
    return take(close)
  }

  private mutating func takeNumber() -> Bool {
    _ = take("-")
    if !take("0"), !takeDigits() { return false }
    if take("."), !takeDigits() { return false }
    if take("e") || take("E") {
      if !take("+") { _ = take("-") }
      return takeDigits()
    }
    return true
  }

  private mutating func takeDigits() -> Bool {
    guard let first = rest.first, (0x30...0x39).contains(first) else { return false }
    rest = rest.drop { (0x30...0x39).contains($0) }
    return true
  }

  private mutating func takeString() -> Bool {
    guard take("\"") else { return false }
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""): return true
      case UInt8(ascii: "\\"): if !takeEscape() { return false }
      case ..<0x20: return false
      default: break
      }
    }
    return false
  }

  private mutating func takeEscape() -> Bool {
    switch rest.popFirst() {
    case UInt8(ascii: "u"):
      let digits = rest.prefix(4)
      rest = rest.dropFirst(4)
      return digits.count == 4 && digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    case let byte?: return "\"\\/bfnrt".utf8.contains(byte)
    case nil: return false
    }
  }
}
