/// The words of a command that an option gives as one text.
///
/// They are those that a shell would make of it, but for what a shell would act on or replace: that is refused,
/// unless it is quoted.
enum CommandWords {
  /// The program and its arguments.
  ///
  /// - Parameters:
  ///   - text: the text of the option.
  ///   - option: the option, for errors.
  /// - Returns: one word or more.
  /// - Throws: `Failure` that says what the text has.
  static func words(of text: String, _ option: String) throws -> [String] {
    var words: [String] = []
    var word: String?
    var rest = text.unicodeScalars[...]
    while let character = rest.popFirst() {
      switch character {
      case " ", "\t":
        if let word { words.append(word) }
        word = nil
      case "'": word = (word ?? "") + (try quoted(&rest, option))
      case "\"": word = (word ?? "") + (try doublyQuoted(&rest, option))
      case "\\":
        guard let next = rest.popFirst() else { throw unfinished("\\", option) }
        word = (word ?? "") + String(next)
      case "|", "&", ";", "<", ">", "(", ")", "$", "`", "*", "?", "[", "\n":
        throw refusal(of: character, option)
      case "~", "#":
        guard word != nil else { throw refusal(of: character, option) }
        word?.unicodeScalars.append(character)
      default: word = (word ?? "") + String(character)
      }
    }
    if let word { words.append(word) }
    guard words.first?.isEmpty == false else {
      throw Failure(
        .usage, "\(option) names no program; give a program and its arguments in one text")
    }
    return words
  }

  private static func quoted(
    _ rest: inout Substring.UnicodeScalarView, _ option: String
  ) throws -> String {
    guard let end = rest.firstIndex(of: "'") else { throw unfinished("'", option) }
    defer { rest = rest[rest.index(after: end)...] }
    return String(rest[..<end])
  }

  private static func doublyQuoted(
    _ rest: inout Substring.UnicodeScalarView, _ option: String
  ) throws -> String {
    var text = ""
    while let character = rest.popFirst() {
      switch character {
      case "\"": return text
      case "$", "`": throw refusal(of: character, option)
      case "\\":
        guard let next = rest.popFirst() else { break }
        if !["$", "`", "\"", "\\"].contains(next) { text.unicodeScalars.append(character) }
        text.unicodeScalars.append(next)
      default: text.unicodeScalars.append(character)
      }
    }
    throw unfinished("\"", option)
  }

  private static func unfinished(_ character: String, _ option: String) -> Failure {
    Failure(.usage, "\(option) has a \(character) without its other end")
  }

  private static func refusal(of character: Unicode.Scalar, _ option: String) -> Failure {
    let shown = character == "\n" ? "a line break" : "a \(character)"
    return Failure(
      .usage,
      "\(option) has \(shown) for a shell, and no shell runs the command: put it in quotes, write out what it "
        + "stands for, or run sh -c '...'")
  }
}
