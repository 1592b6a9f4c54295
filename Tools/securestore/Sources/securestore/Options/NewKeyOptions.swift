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
  private func source(for place: VaultPlace) throws -> KeySource {
    guard let choice = try choice() else {
      throw Failure(
        .usage,
        "say what the new key is: --new-passphrase, --new-key-file PATH, --new-key keyring, or "
          + "another --new- option")
    }
    return try choice.source(for: place, opening: nil, option: "--new-passphrase")
  }

  /// Runs `body`, which makes the new key what opens the vault at `place`, which is open already, and
  /// says of a key file that was made.
  ///
  /// Where the key file was lost, its marker forbids a new one, which nothing sealed would open
  /// with. That is said in other words to whoever has opened the vault without it.
  ///
  /// - Parameters:
  ///   - place: the vault.
  ///   - advice: what to do where the key opens the vault already; nil where it may.
  ///   - output: tells.
  ///   - body: is given the source.
  /// - Returns: what `body` returns.
  /// - Throws: `Failure`, or what `body` throws.
  func use<Result>(
    for place: VaultPlace, refusingOpenersWith advice: String? = nil, _ output: Output,
    _ body: (KeySource) throws -> Result
  ) throws -> Result {
    let source = try source(for: place)
    if let advice, try place.isOpened(by: source) {
      throw Failure(
        .usage, "that key opens the vault already; \(advice)", path: newKeyFile ?? place.path)
    }
    let folders = place.missingFolders(newKeyFile)
    let file = try NewKeyFile(at: newKeyFile.map { Path.absolute($0) })
    do {
      let result = try file.making(output) { try body(source) }
      output.note(ofNew: folders)
      file.note(output)
      return result
    } catch let error as StorageError where error.code == .keyUnavailable {
      guard let newKeyFile else { throw error }
      let path = Path.absolute(newKeyFile)
      guard try !Path.isThere(path), try Path.isThere(path + ".made") else { throw error }
      throw Failure(
        .keyUnavailable,
        "a key file was here, and its marker forbids to make another. This vault needs it no more, "
          + "since it has opened with another key: if nothing else was sealed under the lost one, "
          + "remove \(path).made and say this again. Otherwise give the new key file another name",
        path: path)
    }
  }
}
