internal import ArgumentParser
internal import StorageCore

/// The options that select a new key for the vault.
struct NewKeyOptions: ParsableArguments {
  @Option(
    name: .customLong("new-key"),
    help: ArgumentHelp(
      "The new key by its place: keyring, keyring:NAME or desktop; created if it does not exist.",
      valueName: "source"))
  var newNamedSource: NamedSource?

  @Option(
    help: "The new key file; created if it does not exist.", completion: .file())
  var newKeyFile: String?

  @Flag(
    name: .customLong("new-passphrase"), help: "Ask for the new passphrase on the terminal, twice.")
  var asksNewPassphrase = false

  @Option(
    name: .customLong("new-passphrase-fd"),
    help: ArgumentHelp("Read the new passphrase from a file descriptor.", valueName: "number"))
  var newPassphraseDescriptor: Int32?

  @Option(help: "Read the new passphrase from the first line of a file.", completion: .file())
  var newPassphraseFile: String?

  @Option(
    help: ArgumentHelp(
      "Read the new passphrase from the first line that a program prints.", valueName: "command"))
  var newPassphraseCommand: String?

  @Option(
    help: ArgumentHelp(
      "The program that prints the new key, and its arguments, in one text.", valueName: "command"))
  var newKeyCommand: String?

  @Option(
    help: ArgumentHelp(
      "The name of the new command's key slot, if several commands open the store.",
      valueName: "name"))
  var newKeyCommandName: String?

  @Option(help: ArgumentHelp("The environment variable that holds the new key.", valueName: "name"))
  var newKeyEnv: String?

  @Option(help: ArgumentHelp("The systemd credential that holds the new key.", valueName: "name"))
  var newCredential: String?

  func validate() throws {
    guard newKeyCommandName == nil || newKeyCommand != nil else {
      throw ValidationError("--new-key-command-name needs --new-key-command")
    }
  }

  /// The chosen source, or nil if no option was given.
  func choice() throws -> KeyChoice? {
    try .only(
      of: [
        newNamedSource.map { .named($0) }, newKeyFile.map { .file($0) },
        asksNewPassphrase ? .passphrase : nil,
        newPassphraseDescriptor.map { .passphraseDescriptor($0) },
        newPassphraseFile.map { .passphraseFile($0) },
        newPassphraseCommand.map {
          .passphraseCommand(try CommandWords.words(of: $0, "--new-passphrase-command"))
        },
        newKeyCommand.map {
          .command(try CommandWords.words(of: $0, "--new-key-command"), name: newKeyCommandName)
        }, newKeyEnv.map { .environment($0) },
        newCredential.map { .credential($0) },
      ], "option for the new key")
  }

  /// The new source of the vault at `place`.
  ///
  /// - Throws: `Failure` if no option was given.
  private func source(for place: VaultPlace, _ output: Output) throws -> KeySource {
    guard let choice = try choice() else {
      throw Failure(
        .usage,
        "name the new key: --new-passphrase, --new-key-file PATH, --new-key keyring, or "
          + "another --new- option")
    }
    return try choice.source(for: place, opening: nil, option: "--new-passphrase", warning: output)
  }

  /// Runs `body`, which makes the new key open the vault at `place`; the vault is open already.
  ///
  /// If the key file was lost, its marker forbids a new one, since nothing sealed before would open
  /// with it. This vault has opened with another key, so the error says something else here.
  ///
  /// - Parameters:
  ///   - place: the vault.
  ///   - advice: what to do if the key already opens the vault; nil if such a key is allowed.
  ///   - confirm: asks whether keys may end, before anything is created. It gets the slot that the
  ///     key already opens, if any.
  ///   - output: receives the notes.
  ///   - body: gets the source.
  /// - Returns: the result of `body`, and what is known of the key.
  /// - Throws: `Failure`, or an error of `body`.
  func use<Result>(
    for place: VaultPlace, refusingOpenersWith advice: String? = nil,
    confirm: (KeySlot?) throws -> Void = { _ in }, _ output: Output,
    _ body: (KeySource) throws -> Result
  ) throws -> Use<Result> {
    let source = try source(for: place, output)
    let old = try place.slot(openedBy: source)
    if let advice, old != nil {
      throw Failure(
        .usage, "that key already opens the vault; \(advice)", path: newKeyFile ?? place.path)
    }
    try confirm(old)
    let path = try choice().flatMap { try place.keyFile(of: $0) }
    let file = try NewKeyFile(at: path, for: place)
    do {
      return Use(result: try body(source), file: file, old: old)
    } catch {
      if old == nil, Self.opens(place, source) {
        // The error that follows is about a later step, such as sealing the values again.
        output.warn(
          .unsound,
          "the new key now opens the vault, perhaps as the only key, although the command failed: keep the "
            + "new key. rotate --resume finishes a rotation")
      } else {
        try requireMakeable(after: error)
        try file.noteLeftOver(output)
      }
      throw error
    }
  }

  /// The result of a change of keys.
  struct Use<Result> {
    let result: Result
    /// The key file that may hold the new key.
    let file: NewKeyFile
    /// The slot that the key already opened before, if any.
    let old: KeySlot?
  }

  private static func opens(_ place: VaultPlace, _ source: KeySource) -> Bool {
    do { return try place.isOpened(by: source) } catch { return false }
  }

  /// Explains why a lost key file was not created again, or why a credential was not found.
  private func requireMakeable(after error: any Error) throws {
    guard let error = error as? StorageError, error.code == .keyUnavailable else { return }
    guard newCredential == nil else {
      throw Failure(
        .keyUnavailable,
        "nothing was changed: the credential does not exist here. A service has credentials, a shell does not: "
          + "run this with systemd-run --pty -p LoadCredential=NAME:FILE. Or set CREDENTIALS_DIRECTORY to a "
          + "private folder with a file of that name; see MOVING TO A CREDENTIAL in securestore(1)"
      )
    }
    guard let newKeyFile else { return }
    let path = try Path.absolute(newKeyFile)
    guard try !Path.isThere(path), try Path.isThere(path + ".made") else { return }
    throw Failure(
      .keyUnavailable,
      "a key file existed here, and its marker forbids that a new one is made. This vault opened with another "
        + "key, so it does not need the lost key file. If nothing else was sealed under the lost key, "
        + "remove \(path).made and run this again. Otherwise give the new key file another name",
      path: path)
  }
}
