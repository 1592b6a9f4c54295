internal import ArgumentParser
internal import StorageCore

/// Which key is to open the vault from now on.
struct NewKeyOptions: ParsableArguments {
  @Option(
    name: .customLong("new-key"),
    help: ArgumentHelp(
      "The new key by where it is kept: keyring, keyring:NAME or desktop; made if there is none.",
      valueName: "source"))
  var newNamedSource: NamedSource?

  @Option(
    help: "The new key file, made if there is none.", completion: .file())
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

  @Option(help: ArgumentHelp("The environment variable with the new key.", valueName: "name"))
  var newKeyEnv: String?

  @Option(help: ArgumentHelp("The systemd credential with the new key.", valueName: "name"))
  var newCredential: String?

  /// What was asked for, or nil.
  func choice() throws -> KeyChoice? {
    try .only(
      of: [
        newNamedSource.map { .named($0) }, newKeyFile.map { .file($0) },
        asksNewPassphrase ? .passphrase : nil,
        newPassphraseDescriptor.map { .passphraseDescriptor($0) },
        newPassphraseFile.map { .passphraseFile($0) }, newKeyEnv.map { .environment($0) },
        newCredential.map { .credential($0) },
      ], "option for the new key")
  }

  /// The new source of the vault at `place`.
  ///
  /// - Throws: `Failure` when none was given.
  private func source(for place: VaultPlace, _ output: Output) throws -> KeySource {
    guard let choice = try choice() else {
      throw Failure(
        .usage,
        "say what the new key is: --new-passphrase, --new-key-file PATH, --new-key keyring, or "
          + "another --new- option")
    }
    return try choice.source(for: place, opening: nil, option: "--new-passphrase", warning: output)
  }

  /// Runs `body`, which makes the new key what opens the vault at `place`, which is open already.
  ///
  /// Where the key file was lost, its marker forbids a new one, which nothing sealed would open
  /// with. That is said in other words to whoever has opened the vault without it.
  ///
  /// - Parameters:
  ///   - place: the vault.
  ///   - advice: what to do where the key opens the vault already; nil where it may.
  ///   - confirm: is given the slot that the key opens already, if it does, and asks whether keys may end;
  ///     nothing has been made by then.
  ///   - output: tells.
  ///   - body: is given the source.
  /// - Returns: what `body` returns, and what is known of the key.
  /// - Throws: `Failure`, or what `body` throws.
  func use<Result>(
    for place: VaultPlace, refusingOpenersWith advice: String? = nil,
    confirm: (KeySlot?) throws -> Void = { _ in }, _ output: Output,
    _ body: (KeySource) throws -> Result
  ) throws -> Use<Result> {
    let source = try source(for: place, output)
    let old = try place.slot(openedBy: source)
    if let advice, old != nil {
      throw Failure(
        .usage, "that key opens the vault already; \(advice)", path: newKeyFile ?? place.path)
    }
    try confirm(old)
    let path = try choice().flatMap { try place.keyFile(of: $0) }
    let file = try NewKeyFile(at: path, for: place)
    do {
      return Use(result: try body(source), file: file, old: old)
    } catch {
      if old == nil, Self.opens(place, source) {
        // The error speaks of what failed afterwards, as of sealing the values anew.
        output.warn(
          .unsound,
          "the vault opens with the new key now, and maybe with no other, although this failed: keep the "
            + "new key. rotate --resume finishes a rotation")
      } else {
        try requireMakeable(after: error)
        try file.noteLeftOver(output)
      }
      throw error
    }
  }

  /// What a change of the keys gave.
  struct Use<Result> {
    let result: Result
    /// The key file that the new key may be in.
    let file: NewKeyFile
    /// The slot that the key opened before, if it did.
    let old: KeySlot?
  }

  private static func opens(_ place: VaultPlace, _ source: KeySource) -> Bool {
    do { return try place.isOpened(by: source) } catch { return false }
  }

  /// Says in other words why a lost key file was not made anew, or a credential not found.
  private func requireMakeable(after error: any Error) throws {
    guard let error = error as? StorageError, error.code == .keyUnavailable else { return }
    guard newCredential == nil else {
      throw Failure(
        .keyUnavailable,
        "nothing was changed: the credential is not there. A service has it, and a shell has not: run this "
          + "by systemd-run --pty -p LoadCredential=NAME:FILE, or with CREDENTIALS_DIRECTORY set to the "
          + "folder of a file of that name, for its owner alone; see MOVING TO A CREDENTIAL in securestore(1)"
      )
    }
    guard let newKeyFile else { return }
    let path = Path.absolute(newKeyFile)
    guard try !Path.isThere(path), try Path.isThere(path + ".made") else { return }
    throw Failure(
      .keyUnavailable,
      "a key file was here, and its marker forbids to make another. This vault needs it no more, "
        + "since it has opened with another key: if nothing else was sealed under the lost one, "
        + "remove \(path).made and say this again. Otherwise give the new key file another name",
      path: path)
  }
}
