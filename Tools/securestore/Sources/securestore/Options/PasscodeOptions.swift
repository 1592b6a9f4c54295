internal import ArgumentParser
internal import CryptoCore
internal import StorageCore

/// The options that give the passcode of values that are sealed under one.
struct PasscodeOptions: ParsableArguments {
  @Flag(name: .customLong("passcode"), help: "Ask for the values' passcode on the terminal.")
  var asksPasscode = false

  @Option(
    help: ArgumentHelp(
      "Read the values' passcode from the first line that a program prints.", valueName: "command"))
  var passcodeCommand: String?

  func validate() throws {
    guard !asksPasscode || passcodeCommand == nil else {
      throw ValidationError("give only one of --passcode and --passcode-command")
    }
  }

  /// What gives a router the passcode; nil if no option was given.
  ///
  /// Asks for it now, once; a program that prints it may take `timeout`, or the usual time.
  func passcode(within timeout: Duration?) throws -> (@Sendable () throws -> SecureBytes?)? {
    let passcode: SecureBytes
    if let passcodeCommand {
      passcode = try KeyCommand(
        CommandWords.words(of: passcodeCommand, "--passcode-command"), timeout: timeout
      ).line()
    } else if asksPasscode {
      passcode = try Terminal(for: "a passcode", instead: "--passcode-command")
        .askSecret("Passcode: ")
    } else {
      return nil
    }
    return { passcode }
  }
}
