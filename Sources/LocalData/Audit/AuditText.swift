internal import Foundation

/// Text of names and declarations as a report shows it.
enum AuditText {
  /// The text on one line, with a `?` for what would end it, hide in it, or steer a terminal.
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

  /// The same as text of a page, also within an attribute.
  static func html(_ text: String) -> String {
    var shown = ""
    for scalar in line(text).unicodeScalars {
      switch scalar {
      case "&": shown += "&amp;"
      case "<": shown += "&lt;"
      case ">": shown += "&gt;"
      case "\"": shown += "&quot;"
      case "'": shown += "&#39;"
      default: shown.unicodeScalars.append(scalar)
      }
    }
    return shown
  }

  /// A document of JSON in which nothing hides or steers: what could, which is within strings, is escaped.
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

  /// A count of things, in the plural where there is not one.
  static func count(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }
}
