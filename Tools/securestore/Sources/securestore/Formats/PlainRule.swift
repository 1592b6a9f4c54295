/// What a dotenv value without quotes may contain: text that a shell and dotenv libraries read
/// alike.
///
/// A shell is bash or dash after `set -a; . file`. If a shell gives the variable no value at all,
/// as in `A=b c`, only the libraries' reading counts.
struct PlainRule {
  let isExported: Bool
  /// Whether there is a space before the `=`; a shell does not read such a line.
  let hasSpaceBefore: Bool
  let hasSpaceAfter: Bool

  static let carriageReturn = "a carriage return is not part of a line end"
  static let command =
    "a shell replaces the text between backquotes (`) by the output of a command; put the value in single "
    + "quotes to keep the text"
  static let replaced =
    "a shell or a dotenv library replaces this $ and the name after it, which is not done here; write the "
    + "final text, or put the value in single quotes to keep the $"
  static let spaces =
    "a shell ends the value of export at a space; put the value in quotes, without a space before it"

  /// Why the value is refused; nil if it is not.
  func objection(to value: ArraySlice<UInt8>) -> String? {
    let text = String(decoding: value, as: UTF8.self)
    return Self.objection(toCharacters: value) ?? objection(toWords: text)
      ?? Self.objection(toSpaces: text)
  }

  /// Whether a shell replaces a `$` before this byte.
  static func isReplaced(_ next: UInt8?, inQuotes: Bool) -> Bool {
    guard let next else { return false }
    let special = inQuotes ? "_{([$?!#@*-" : "_{([$?!#@*-'\""
    return special.utf8.contains(next) || Character(UnicodeScalar(next)).isASCIIWord
  }

  private static func objection(toCharacters value: ArraySlice<UInt8>) -> String? {
    for (index, byte) in value.indices.lazy.map({ ($0, value[$0]) }) {
      let next = index + 1 < value.endIndex ? value[index + 1] : nil
      let isFirst = index == value.startIndex
      switch byte {
      case UInt8(ascii: "\r"): return carriageReturn
      case UInt8(ascii: "\\") where next == nil:
        return "a shell joins a line that ends in a backslash with the next line; put the value "
          + "in quotes"
      case UInt8(ascii: "\\"):
        return "a shell removes a backslash outside quotes; put the value in single quotes to "
          + "keep it"
      case UInt8(ascii: "'"), UInt8(ascii: "\""):
        return "a shell removes quotes inside a value; put the whole value in quotes of the other "
          + "kind"
      case UInt8(ascii: "`"): return command
      case UInt8(ascii: "$") where isReplaced(next, inQuotes: false): return replaced
      case UInt8(ascii: ";"), UInt8(ascii: "<"), UInt8(ascii: ">"),
        UInt8(ascii: "&") where next == byte, UInt8(ascii: "|") where next == byte,
        UInt8(ascii: "(") where isFirst:
        return "a shell ends the value at ; < > && || and reads ( as a list; put the value in "
          + "quotes"
      case UInt8(ascii: "~") where isFirst || value[index - 1] == UInt8(ascii: ":"):
        return "a shell replaces ~ by a home folder; put the value in quotes to keep it"
      default: break
      }
    }
    return nil
  }

  private func objection(toWords text: String) -> String? {
    guard !hasSpaceBefore else { return nil }
    let words = text.split(whereSeparator: { $0 == " " || $0 == "\t" })
    if isExported {
      if words.count > 1 || hasSpaceAfter && !words.isEmpty { return Self.spaces }
      guard let brace = text.firstIndex(of: "{") else { return nil }
      let list = text[brace...]
      return list.contains("}") && (list.contains(",") || list.contains(".."))
        ? "bash makes several words of a list in braces; put the value in quotes" : nil
    }
    let others = words.dropFirst(hasSpaceAfter ? 0 : 1)
    if let command = others.first, Self.specialCommands.contains(command) {
      return "a shell sets the variable before the word that follows here, which is one of its own "
        + "commands; put the value in quotes"
    }
    let isAllAssignments = others.allSatisfy { word in
      let name = word.prefix { $0 != "=" }
      return name.count < word.count && VariableNames.isVariable(String(name))
    }
    return others.isEmpty || !isAllAssignments
      ? nil
      : "a shell sets several variables here; put each on a line of its own, or the value in "
        + "quotes"
  }

  /// IEEE Std 1003.1, section 2.14: variables that are set before such a command stay set.
  private static let specialCommands: Set<Substring> = [
    ".", ":", "break", "continue", "eval", "exec", "exit", "export", "readonly", "return", "set",
    "shift", "times", "trap", "unset",
  ]

  private static func objection(toSpaces text: String) -> String? {
    let scalars = Array(text.unicodeScalars)
    let isInvisible = scalars.indices.contains { index in
      let isEdge = index == 0 || index == scalars.count - 1 || scalars[index + 1] == "#"
      let isPlain = scalars[index] == " " || scalars[index] == "\t"
      return isEdge && !isPlain && scalars[index].properties.isWhitespace
    }
    return isInvisible
      ? "some dotenv libraries remove a space that is not the usual one (U+0020), here at the value's edge; "
        + "remove it, or put the value in quotes" : nil
  }
}

extension Character {
  /// Whether it is an ASCII letter or digit.
  fileprivate var isASCIIWord: Bool { isASCII && (isLetter || isNumber) }
}
