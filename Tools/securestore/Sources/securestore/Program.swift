internal import ArgumentParser
internal import CryptoCore
internal import Foundation
internal import Glibc
internal import StorageCore

/// Runs a command and turns what it throws into a line and an exit code.
@main
enum Program {
  static func main() {
    let typed = Array(CommandLine.arguments.dropFirst())
    var isCompletion: Bool { typed.first == "---completion" }
    let isJSON = typed.prefix { $0 != "--" }.contains("--json")
    do {
      let arguments = try GlobalOptions.behindCommand(typed)
      try ProcessProtection.apply(isRestorable: arguments.first == "run")
      try requireText()
      let isSilent = isCompletion
      StorageDiagnostics.handler = { if !isSilent { Output.warn(Failure($0), isJSON) } }
      try refuseHiddenHelp(typed)
      try UnknownCommand.refuse(arguments)
      var command = try Securestore.parseAsRoot(arguments)
      try command.run()
    } catch {
      // What can't be completed is no matter to speak of, in the middle of a line that is typed.
      if isCompletion, Securestore.exitCode(for: error) != .success { exit(0) }
      end(error, isJSON)
    }
  }

  /// Refuses arguments that are no text, which Swift would hand us with U+FFFD in them: a value
  /// would be stored under another name than was said.
  private static func requireText() throws {
    for index in 0..<Int(CommandLine.argc) {
      guard let argument = unsafe CommandLine.unsafeArgv[index] else { continue }
      guard unsafe String(validatingCString: argument) != nil else {
        throw Failure(.usage, "argument \(index) is not UTF-8, as names and paths have to be")
      }
    }
  }

  /// Refuses letters behind one hyphen with an h among them, which the parser takes for `-h`: it would
  /// show help, and end as if all were done, where a value like -hunter2 went to a wrong place.
  private static func refuseHiddenHelp(_ arguments: [String]) throws {
    let isHidden = arguments.prefix { $0 != "--" }.contains {
      $0.hasPrefix("-") && !$0.hasPrefix("--") && $0.count > 2 && $0.contains("h")
    }
    guard !isHidden else {
      throw Failure(
        .usage,
        "there is no such option; a value is never an argument, and a name that begins with a hyphen "
          + "goes behind --")
    }
  }

  private static func end(_ error: any Error, _ isJSON: Bool) -> Never {
    guard let failure = failure(error) else { Securestore.exit(withError: error) }
    // A code alone: everything was said.
    if failure.message.isEmpty { exit(failure.status.rawValue) }
    if isJSON {
      do { try Output.write(failure.json.text + "\n", to: STDERR_FILENO) } catch {}
    } else {
      Output.complain(failure.line)
    }
    exit(failure.status.rawValue)
  }

  /// What there is to say; nil for help and the like, which is no failure.
  private static func failure(_ error: any Error) -> Failure? {
    switch error {
    case let failure as Failure: failure
    case let error as StorageError: Failure(error)
    case let error as CryptoError: Failure(StorageError(error))
    default: Securestore.exitCode(for: error) == .success ? nil : Usage.failure(of: error)
    }
  }
}
