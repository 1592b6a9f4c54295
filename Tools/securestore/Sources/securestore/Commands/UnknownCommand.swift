internal import ArgumentParser

/// Says that there is no such command, which the parser calls an unexpected argument.
enum UnknownCommand {
  /// Refuses arguments that begin with the name of no command.
  ///
  /// What was typed is not repeated: it may be a value that went to the wrong place.
  static func refuse(_ arguments: [String]) throws {
    var command: any ParsableCommand.Type = Securestore.self
    var title = "securestore"
    for argument in arguments {
      let commands = command.configuration.subcommands
      // What is no name is the parser's to judge.
      guard !commands.isEmpty, !argument.hasPrefix("-"), argument != "help" else { return }
      guard let next = subcommand(argument, of: command) else {
        throw failure(argument, commands.map { name(of: $0) }, title)
      }
      command = next
      title += " \(argument)"
    }
  }

  /// The command of a name among those of another; nil when there is none.
  static func subcommand(
    _ name: String, of command: any ParsableCommand.Type
  ) -> (any ParsableCommand.Type)? {
    command.configuration.subcommands.first { Self.name(of: $0) == name }
  }

  private static func name(of command: any ParsableCommand.Type) -> String {
    command.configuration.commandName ?? ""
  }

  private static func failure(_ typed: String, _ names: [String], _ title: String) -> Failure {
    let near = names.filter { isNear(typed, $0) }
    let hint =
      near.isEmpty
      ? "" : "; near \(near.count == 1 ? "is" : "are") \(near.joined(separator: " and "))"
    return Failure(
      .usage, "there is no such command of \(title)\(hint). \(title) --help lists all")
  }

  /// Whether one was typed for the other: it begins it, or is a slip or two away.
  private static func isNear(_ typed: String, _ name: String) -> Bool {
    guard !typed.isEmpty, typed.utf8.count <= 2 * name.utf8.count else { return false }
    return name.hasPrefix(typed) || distance(typed, name) <= (name.utf8.count < 5 ? 1 : 2)
  }

  /// How many characters have to be put in, taken out or replaced: Levenshtein's distance.
  private static func distance(_ left: String, _ right: String) -> Int {
    let right = Array(right)
    var row = Array(0...right.count)
    for (line, character) in left.enumerated() {
      var diagonal = row[0]
      row[0] = line + 1
      for (column, other) in right.enumerated() {
        let replaced = diagonal + (character == other ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
      }
    }
    return row[right.count]
  }
}
