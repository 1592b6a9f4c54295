internal import ArgumentParser
internal import StorageCore
internal import VaultBackend

/// Makes a new passphrase the key of the vault.
struct PassphraseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "passphrase", abstract: "Change the passphrase, or change to a passphrase.",
    discussion: """
      Afterwards only the new passphrase and recovery keys open the vault. All other keys are \
      removed: the command lists them and asks first, unless --yes is given. To add a passphrase and \
      keep the other keys, use slots add. The values are not sealed again, so an older copy of the \
      file still opens with the old key: if that key leaked, use rotate --root.
      """)

  @OptionGroup(title: "Store") var store: StoreOptions
  @OptionGroup(title: "Key") var key: KeyOptions

  @Option(
    name: .customLong("new-passphrase-fd"),
    help: ArgumentHelp(
      "Read the new passphrase from a file descriptor instead of the terminal.",
      valueName: "number"))
  var newPassphraseDescriptor: Int32?

  @Option(
    help: "Read the new passphrase from the first line of a file.", completion: .file())
  var newPassphraseFile: String?

  @Option(
    help: ArgumentHelp(
      "Read the new passphrase from the first line that a program prints.", valueName: "command"))
  var newPassphraseCommand: String?

  @OptionGroup var consent: ConsentOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let place = try store.vaultPlace()
    let storage = try place.open(key)
    // Opened first, so that nobody thinks up a passphrase for a vault that does not open.
    try storage.open()
    let choice = try KeyChoice.only(
      of: [
        newPassphraseDescriptor.map { .passphraseDescriptor($0) },
        newPassphraseFile.map { .passphraseFile($0) },
        newPassphraseCommand.map {
          .passphraseCommand(try CommandWords.words(of: $0, "--new-passphrase-command"))
        },
      ], "option for the new passphrase")
    let new = choice ?? KeyChoice.passphrase
    let source = try new.source(
      for: place, opening: nil, option: "--new-passphrase", warning: output.output)
    guard try !place.isOpened(by: source) else {
      throw Failure(
        .usage,
        "that passphrase already opens the vault, and nothing was changed; give another. slots change "
          + "makes it the only key", path: place.path)
    }
    let before = try storage.keyAdministration.slots()
    try EndingKeys(place, before, new: new) { $0.kind != KeySlot.recoveryKind }
      .confirm(consent, output.output)
    try storage.keyAdministration.change(to: source)
    let slots = try storage.keyAdministration.slots()
    let ended = before.ended(in: slots)
    try output.output.done(
      "the new passphrase opens \(place.path)",
      ["path": place.path, "slots": slots, "ended": ended])
    output.output.note(ofEnded: ended)
  }
}
