internal import ArgumentParser

/// Reports an unknown command; the parser would call it an unexpected argument.
enum UnknownCommand {
  /// Refuses arguments that begin with an unknown command.
  ///
  /// The message does not repeat the argument: it may be a value in the wrong place.
  static func refuse(_ arguments: [String]) throws {
    var command: any ParsableCommand.Type = Securestore.self
    var title = "securestore"
    for argument in arguments {
      let commands = command.configuration.subcommands
      // Arguments that are not names are left to the parser.
      guard !commands.isEmpty, !argument.hasPrefix("-"), argument != "help" else { return }
      guard let next = subcommand(argument, of: command) else {
        throw failure(argument, commands.map { name(of: $0) }, title)
      }
      command = next
      title += " \(argument)"
    }
  }

  /// The subcommand of that name; nil if there is none.
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
    let hint = near.isEmpty ? "." : Nearness.question(near)
    return Failure(
      .usage, "\(title) has no such command\(hint) \(title) --help lists all commands")
  }

  /// Whether the typed text begins the name, or differs from it by one or two typing errors.
  private static func isNear(_ typed: String, _ name: String) -> Bool {
    guard !typed.isEmpty, typed.utf8.count <= 2 * name.utf8.count else { return false }
    return name.hasPrefix(typed) || Nearness.distance(typed, name) <= (name.utf8.count < 5 ? 1 : 2)
  }
}
