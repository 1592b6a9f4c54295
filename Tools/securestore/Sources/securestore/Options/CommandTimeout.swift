internal import ArgumentParser

/// How long a program may take that prints a key, a passphrase or a password.
struct CommandTimeout: ExpressibleByArgument {
  let duration: Duration

  init?(argument: String) {
    guard let seconds = Double(argument), seconds > 0, seconds <= 86_400 else { return nil }
    duration = .milliseconds(Int64((seconds * 1000).rounded(.up)))
  }

  static let help = ArgumentHelp(
    "How long a program may take that prints a key, a passphrase, a passcode or a password; default: 30 "
      + "seconds, or 2 minutes where somebody may type.", valueName: "seconds")
}
