extension Dotenv {
  /// Whether a name is valid in such a file; a shell does not read names with `.` or `-`.
  static func isName(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.enumerated().allSatisfy { isName($1, first: $0 == 0) }
  }

  /// A line that reads back as `value` here and in shells, and in dotenv libraries as far as they
  /// can.
  ///
  /// - Returns: the line; nil for a value with a zero byte, which no such file can hold.
  static func line(_ name: String, _ value: String) -> String? {
    value.utf8.contains(0) ? nil : "\(name)=\(quoted(value))\n"
  }

  private static func quoted(_ value: String) -> String {
    let scalars = value.unicodeScalars
    let isPlain = scalars.allSatisfy {
      $0.isASCII
        && ($0.properties.isAlphabetic || $0.properties.numericType != nil
          || "_./:@%+,=-".unicodeScalars.contains($0))
    }
    if isPlain, !value.isEmpty { return value }
    if suitsSingleQuotes(value) { return "'\(value)'" }
    var quoted = "\""
    for scalar in scalars {
      switch scalar {
      // Readers take CR LF for a line end of the file. A shell keeps this escape as text.
      case "\r": quoted += "\\r"
      case "\"", "\\", "$", "`": quoted += "\\\(scalar)"
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }

  /// Whether single quotes keep the value.
  ///
  /// python-dotenv reads `\\` and `\'` between single quotes as escapes, but keeps `\$` between
  /// double quotes.
  private static func suitsSingleQuotes(_ value: String) -> Bool {
    let bytes = Array(value.utf8)
    guard !bytes.contains(UInt8(ascii: "'")), !bytes.contains(0x0D) else { return false }
    if bytes.contains(UInt8(ascii: "$")) || bytes.contains(UInt8(ascii: "`")) { return true }
    let backslash = UInt8(ascii: "\\")
    return bytes.last != backslash
      && !zip(bytes, bytes.dropFirst()).contains { $0 == backslash && $1 == backslash }
  }
}
