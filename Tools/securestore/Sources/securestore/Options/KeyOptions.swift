internal import ArgumentParser

/// The options that select the key that opens the vault.
struct KeyOptions: ParsableArguments {
  @Option(
    name: .customLong("key"),
    help: ArgumentHelp(
      "A key by the place that holds it: keyring, keyring:NAME or desktop.", valueName: "source"))
  var namedSource: NamedSource?

  @Option(help: "A key file that only its owner can read.", completion: .file())
  var keyFile: String?

  @Option(
    help: "A key file that a container has mounted, with any owner, mode and links.",
    completion: .file())
  var mountedSecret: String?

  @Flag(name: .customLong("passphrase"), help: "Ask for a passphrase on the terminal.")
  var asksPassphrase = false

  @Option(
    name: .customLong("passphrase-fd"),
    help: ArgumentHelp(
      "Read a passphrase from a file descriptor, up to a line break.", valueName: "number"))
  var passphraseDescriptor: Int32?

  @Option(help: "Read a passphrase from the first line of a file.", completion: .file())
  var passphraseFile: String?

  @Option(
    help: ArgumentHelp(
      "Read a passphrase from the first line that a program prints.", valueName: "command"))
  var passphraseCommand: String?

  @Option(help: ArgumentHelp("An environment variable that holds the key.", valueName: "name"))
  var keyEnv: String?

  @Option(help: ArgumentHelp("A systemd credential that holds the key.", valueName: "name"))
  var credential: String?

  @Option(
    help: ArgumentHelp(
      "A program that prints the key, and its arguments, in one text.", valueName: "command"))
  var keyCommand: String?

  @Option(
    help: ArgumentHelp(
      "The name of the command's key slot; default: the one that the store has.", valueName: "name")
  )
  var keyCommandName: String?

  @Flag(name: .customLong("recovery"), help: "Ask for a recovery key on the terminal.")
  var asksRecovery = false

  @Option(
    name: .customLong("recovery-fd"),
    help: ArgumentHelp("Read a recovery key from a file descriptor.", valueName: "number"))
  var recoveryDescriptor: Int32?

  @Option(
    help: ArgumentHelp(
      "Read a recovery key from the first line that a program prints.", valueName: "command"))
  var recoveryCommand: String?

  func validate() throws {
    guard keyCommandName == nil || keyCommand != nil else {
      throw ValidationError("--key-command-name needs --key-command")
    }
  }

  /// The chosen source, or nil if no option was given.
  func choice() throws -> KeyChoice? {
    try .only(
      of: [
        namedSource.map { .named($0) }, keyFile.map { .file($0) },
        mountedSecret.map { .mountedSecret($0) }, asksPassphrase ? .passphrase : nil,
        passphraseDescriptor.map { .passphraseDescriptor($0) },
        passphraseFile.map { .passphraseFile($0) },
        passphraseCommand.map {
          .passphraseCommand(try CommandWords.words(of: $0, "--passphrase-command"))
        },
        keyCommand.map {
          .command(try CommandWords.words(of: $0, "--key-command"), name: keyCommandName)
        }, keyEnv.map { .environment($0) },
        credential.map { .credential($0) }, asksRecovery ? .recovery : nil,
        recoveryDescriptor.map { .recoveryDescriptor($0) },
        recoveryCommand.map {
          .recoveryCommand(try CommandWords.words(of: $0, "--recovery-command"))
        },
      ], "key option")
  }
}
