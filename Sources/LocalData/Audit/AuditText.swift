internal import FoundationEssentials

/// Makes text of names and declarations safe to show in a report.
enum AuditText {
  /// The text on one line, with a `?` for characters that end a line, are invisible, or control a
  /// terminal.
  static func line(_ text: String) -> String {
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator, .format: shown.append("?")
      default: shown.append(scalar)
      }
    }
    return String(shown)
  }

  /// A JSON document in which control and invisible characters, which occur only in strings, are
  /// escaped.
  static func json(_ text: String) -> String {
    var shown = ""
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control where scalar == "\n": shown += "\n"
      case .control, .format, .lineSeparator, .paragraphSeparator:
        for unit in String(scalar).utf16 {
          let digits = String(unit, radix: 16)
          shown += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
      default: shown.unicodeScalars.append(scalar)
      }
    }
    return shown
  }

  /// A time in UTC, to the second.
  static func time(_ date: Date) -> String { date.formatted(.iso8601) }

  /// A number with its noun, which gets an s unless the number is 1.
  static func count(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }
}
