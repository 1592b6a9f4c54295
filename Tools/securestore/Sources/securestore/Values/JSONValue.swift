/// What an answer in JSON may hold.
protocol JSONConvertible {
  var json: JSONValue { get }
}

/// A JSON value that keeps the notation of numbers and the order of members.
///
/// An object is written as a dictionary's literal: `["path": path, "values": count]`.
indirect enum JSONValue {
  case null
  case bool(Bool)
  /// The digits of a number, as JSON writes them.
  case number(String)
  case string(String)
  case array([JSONValue])
  case object([(String, JSONValue)])

  /// The value of a member, or nil.
  subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.last { $0.0.utf8.elementsEqual(name.utf8) }?.1
  }

  var string: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  /// The members of an object; none of any other value.
  private var members: [(String, JSONValue)] {
    if case .object(let members) = self { members } else { [] }
  }

  /// The value on one line.
  var text: String {
    var text = ""
    write(to: &text)
    return text
  }

  private func write(to text: inout String) {
    switch self {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .number(let digits): text += digits
    case .string(let value): Self.quote(value, &text)
    case .array(let values):
      text += "["
      for (index, value) in values.enumerated() {
        if index > 0 { text += "," }
        value.write(to: &text)
      }
      text += "]"
    case .object(let members):
      text += "{"
      for (index, member) in members.enumerated() {
        if index > 0 { text += "," }
        Self.quote(member.0, &text)
        text += ":"
        member.1.write(to: &text)
      }
      text += "}"
    }
  }

  /// Quotes text by RFC 8259, section 7; also escapes characters that control a terminal, and those
  /// that YAML does not take as they are: YAML 1.2.2, section 5.1.
  private static func quote(_ value: String, _ text: inout String) {
    text += "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case _
      where scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
        || scalar.properties.isBidiControl
        || ["\u{2028}", "\u{2029}", "\u{FEFF}", "\u{FFFE}", "\u{FFFF}"].contains(scalar):
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}

extension JSONValue: JSONConvertible, ExpressibleByDictionaryLiteral {
  var json: JSONValue { self }

  init(dictionaryLiteral members: (String, any JSONConvertible)...) {
    self = .object(members.map { ($0, $1.json) })
  }

  /// The members of this object and then those of others.
  func with(_ others: JSONValue...) -> JSONValue {
    .object(([self] + others).flatMap(\.members))
  }
}
