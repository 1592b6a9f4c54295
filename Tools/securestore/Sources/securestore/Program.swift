internal import ArgumentParser
internal import CryptoCore
internal import Foundation
internal import Glibc
internal import StorageCore

/// Runs a command and turns what it throws into a line and an exit code.
@main
enum Program {
  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let isJSON = arguments.prefix { $0 != "--" }.contains("--json")
    do {
      try ProcessProtection.apply()
      try requireText()
      StorageDiagnostics.handler = { Output.warn(Failure($0), isJSON) }
      try refuseHiddenHelp(arguments)
      try UnknownCommand.refuse(arguments)
      var command = try Securestore.parseAsRoot(arguments)
      try command.run()
    } catch {
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
    guard let failure = failure(error, isJSON) else { endAsUsed(error) }
    // A code alone: everything was said.
    if failure.message.isEmpty { exit(failure.status.rawValue) }
    if isJSON {
      do { try Output.write(failure.json.text + "\n", to: STDERR_FILENO) } catch {}
    } else {
      Output.complain(failure.line)
    }
    exit(failure.status.rawValue)
  }

  /// What is ours to say; nil for what the argument parser says better: help, and errors of usage.
  private static func failure(_ error: any Error, _ isJSON: Bool) -> Failure? {
    switch error {
    case let failure as Failure: return failure
    case let error as StorageError: return Failure(error)
    case let error as CryptoError: return Failure(StorageError(error))
    default:
      let code = Securestore.exitCode(for: error)
      guard isJSON, code != .success else { return nil }
      return Failure(.usage, withoutTyped(Securestore.message(for: error)))
    }
  }

  /// Shows help, or what was wrong about the arguments.
  private static func endAsUsed(_ error: any Error) -> Never {
    let code = Securestore.exitCode(for: error)
    guard code != .success else { Securestore.exit(withError: error) }
    // Nobody is left to tell when standard error can't be written to.
    do {
      try Output.write(withoutTyped(Securestore.fullMessage(for: error)) + "\n", to: STDERR_FILENO)
    } catch {}
    exit(code.rawValue)
  }

  /// The parser's words without what was typed in a wrong place: it may be a value or a passphrase.
  private static func withoutTyped(_ text: String) -> String {
    // Of an option the name stays.
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
