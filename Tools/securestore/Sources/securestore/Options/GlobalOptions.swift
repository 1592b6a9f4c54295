internal import ArgumentParser

/// The options that may stand before the command: those that all commands take, or nearly all.
enum GlobalOptions {
  /// The options that take a value.
  static let valued: Set<String> = [
    "--app", "--vault", "--folder", "--authentication-tag", "--wait", "--command-timeout", "--key",
    "--key-file", "--passphrase-fd", "--passphrase-file", "--key-env", "--credential",
    "--recovery-fd", "--key-command", "--key-command-name", "--passphrase-command",
    "--recovery-command",
  ]
  static let flags: Set<String> = ["--passphrase", "--recovery", "--json", "--quiet", "-q"]

  /// Moves such options behind the command, where the parser expects them.
  ///
  /// - Throws: `Failure` if no command follows the options.
  static func behindCommand(_ arguments: [String]) throws -> [String] {
    var command: any ParsableCommand.Type = Securestore.self
    var (path, moved): ([String], [String]) = ([], [])
    var rest = arguments[...]
    while let argument = rest.first {
      if let subcommand = UnknownCommand.subcommand(argument, of: command) {
        command = subcommand
        path.append(argument)
        rest.removeFirst()
        if command.configuration.subcommands.isEmpty { break }
      } else if flags.contains(argument) || isJoined(argument) {
        moved.append(argument)
        rest.removeFirst()
      } else if valued.contains(argument) {
        moved += rest.prefix(2)
        rest = rest.dropFirst(2)
      } else {
        break
      }
    }
    // What is a command for all stores elsewhere is about a sealed folder here.
    if path.first == "files", command.configuration.subcommands.isEmpty { moved.append("--files") }
    guard path.isEmpty, !moved.isEmpty else { return path + moved + rest }
    // Help needs none of these options.
    if let next = rest.first, ["help", "-h", "--help", "--version"].contains(next) {
      return Array(rest)
    }
    // The order makes the parser report an unknown command or an unknown option, whichever it is.
    if let next = rest.first { return next.hasPrefix("-") ? moved + rest : rest + moved }
    throw Failure(
      .usage, "a command must follow the options; securestore --help lists all commands")
  }

  private static func isJoined(_ argument: String) -> Bool {
    argument.firstIndex(of: "=").map { valued.contains(String(argument[..<$0])) } ?? false
  }
}
