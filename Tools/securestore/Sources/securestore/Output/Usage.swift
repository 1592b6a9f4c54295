internal import ArgumentParser

/// Turns the parser's errors into one line, like every other error.
enum Usage {
  /// The parser's message, with advice.
  static func failure(of error: any Error) -> Failure {
    var message = withoutTyped(Securestore.message(for: error))
    while let last = message.last, ".\n ".contains(last) { message.removeLast() }
    let usage = Securestore.fullMessage(for: error).split(separator: "\n")
      .first { $0.hasPrefix(Self.prefix) }
      .map { String($0.dropFirst(Self.prefix.count)) }
    if message.lowercased().contains("unexpected argument"), let usage {
      message += ": " + explanation(of: usage)
    }
    if let usage {
      message += (message.hasSuffix("?") ? " " : ". ") + "Usage: " + withoutTyped(usage)
    }
    return Failure(.usage, lowercasedFirst(message.replacing("\n", with: " ")))
  }

  private static let prefix = "Usage: "

  /// What a command accepts, by its usage line.
  private static func explanation(of usage: String) -> String {
    let words = usage.split(separator: " ").map(String.init)
    let command = words.prefix { !"[<".contains($0.first ?? " ") }.joined(separator: " ")
    let names = words.drop { !"[<".contains($0.first ?? " ") }
      .filter { !$0.contains("<options>") }
    let taken =
      names.isEmpty
      ? "takes only options"
      : "takes \(names.joined(separator: " ")) and options, and no other arguments"
    return
      "\(command) \(taken). Put a name with spaces in quotes; a value is never an argument"
  }

  private static func lowercasedFirst(_ text: String) -> String {
    guard let first = text.first, text.dropFirst().first?.isLowercase ?? false else { return text }
    return first.lowercased() + text.dropFirst()
  }

  /// The parser's message without what the user typed, which may be a value or a passphrase.
  private static func withoutTyped(_ text: String) -> String {
    // The name of an option stays; its value goes.
    let values = CommandLine.arguments.dropFirst().flatMap { argument -> [String] in
      guard argument.hasPrefix("-") else { return [argument] }
      let value = argument.drop { $0 != "=" }
      return value.isEmpty ? [] : [String(value.dropFirst()), argument]
    }
    var text = text
    for value in values.sorted(by: { $0.count > $1.count }) where !value.isEmpty {
      text = text.replacing("'\(value)'", with: "'…'")
    }
    return text
  }
}
