internal import ArgumentParser
internal import CryptoCore
internal import Foundation
internal import Glibc
internal import StorageCore

/// Runs a command, and turns an error into one line and an exit code.
@main
enum Program {
  static func main() {
    let typed = Array(CommandLine.arguments.dropFirst())
    var isCompletion: Bool { typed.first == "---completion" }
    let isJSON = typed.prefix { $0 != "--" }.contains("--json")
    do {
      let arguments = try GlobalOptions.behindCommand(typed)
      try ProcessProtection.apply(isRestorable: arguments.first == "run")
      try requireArguments()
      try requireText()
      let isSilent = isCompletion
      StorageDiagnostics.handler = { if !isSilent { Output.warn(Failure($0), isJSON) } }
      try refuseHiddenHelp(typed)
      try UnknownCommand.refuse(arguments)
      var command = try Securestore.parseAsRoot(arguments)
      try command.run()
    } catch {
      // A failed completion stays silent: the user is in the middle of typing a line.
      if isCompletion, Securestore.exitCode(for: error) != .success { exit(0) }
      end(error, isJSON)
    }
  }

  /// Refuses to go on without arguments, of which the first is the program's name.
  ///
  /// Swift reads them from /proc. Without them, the program would show its help and succeed.
  private static func requireArguments() throws {
    guard CommandLine.arguments.isEmpty else { return }
    throw Failure(
      .unavailable,
      "the arguments can't be read, because /proc is not mounted, and nothing was done: mount it with "
        + "mount -t proc proc /proc")
  }

  /// Refuses arguments, and variables, that are not UTF-8.
  ///
  /// Swift replaces an argument's bytes with U+FFFD, so a value would be
  /// stored under another name than the user typed.
  private static func requireText() throws {
    for index in 0..<Int(CommandLine.argc) {
      guard let argument = unsafe CommandLine.unsafeArgv[index] else { continue }
      guard unsafe SystemText.exact(argument) != nil else {
        throw Failure(.usage, "argument \(index) is not UTF-8; names and paths must be UTF-8")
      }
    }
    try Environment.requireText()
  }

  /// Refuses grouped short options that contain an h, which the parser takes for `-h`.
  ///
  /// With a value
  /// like -hunter2 in the wrong place, it would show help and exit as if the command had succeeded.
  private static func refuseHiddenHelp(_ arguments: [String]) throws {
    let isHidden = arguments.prefix { $0 != "--" }.contains {
      $0.hasPrefix("-") && !$0.hasPrefix("--") && $0.count > 2 && $0.contains("h")
    }
    guard !isHidden else {
      throw Failure(
        .usage,
        "this option does not exist. If a name begins with a hyphen, put -- before it. Send values through "
          + "a pipe, never as an argument")
    }
  }

  /// Writes the help, the version or a completion script that was asked for.
  ///
  /// The parser's own exit does not check whether the text could be written.
  private static func answer(_ request: any Error, _ isJSON: Bool) -> Never {
    let text = Securestore.fullMessage(for: request)
    do {
      if !text.isEmpty { try Output.write(text + "\n") }
    } catch {
      end(error, isJSON)
    }
    exit(ExitStatus.success.rawValue)
  }

  private static func end(_ error: any Error, _ isJSON: Bool) -> Never {
    guard let failure = failure(error) else { answer(error, isJSON) }
    // A failure without a message is only an exit code; the command has already said the rest.
    if failure.message.isEmpty { exit(failure.status.rawValue) }
    if isJSON {
      do { try Output.write(failure.json.text + "\n", to: STDERR_FILENO) } catch {}
    } else {
      for choice in failure.choices { Output.complain(choice.line) }
      Output.complain(failure.line)
    }
    exit(failure.status.rawValue)
  }

  /// The failure to report; nil for help and the like, which are not failures.
  private static func failure(_ error: any Error) -> Failure? {
    switch error {
    case let failure as Failure: failure
    case let error as StorageError: Failure(error)
    case let error as CryptoError: Failure(StorageError(error))
    case let error as CocoaError: Failure(foundation: error as NSError)
    case let error as POSIXError: Failure(foundation: error as NSError)
    default: Securestore.exitCode(for: error) == .success ? nil : Usage.failure(of: error)
    }
  }
}
