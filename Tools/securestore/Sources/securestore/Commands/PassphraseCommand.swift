internal import ArgumentParser
internal import StorageCore
internal import VaultBackend

/// Makes a passphrase the key of the vault.
struct PassphraseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "passphrase", abstract: "Change the passphrase, or go over to one.",
    discussion: """
      From then on the new passphrase opens the vault, and recovery keys; all other ways to open it \
      are removed: it says which, and asks first, unless --yes is given. To add a passphrase beside \
      them, use slots add. The values are not sealed anew, \
      so a copy of the file from before opens with the old key: if that leaked, use rotate --root.
      """)

  @OptionGroup(title: "Vault") var vault: VaultOptions
  @OptionGroup(title: "Key") var key: KeyOptions

  @Option(
    name: .customLong("new-passphrase-fd"),
    help: ArgumentHelp(
      "Read the new passphrase from a file descriptor, not from the terminal.",
      valueName: "number"))
  var newPassphraseDescriptor: Int32?

  @Option(
    help: "Read the new passphrase from the first line of a file.", completion: .file())
  var newPassphraseFile: String?

  @OptionGroup var consent: ConsentOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let place = try vault.place()
    let storage = try place.open(key)
    // First, so that nobody thinks of a new one for a vault that does not open.
    try storage.open()
    let choice = try KeyChoice.only(
      of: [
        newPassphraseDescriptor.map { .passphraseDescriptor($0) },
        newPassphraseFile.map { .passphraseFile($0) },
      ], "option for the new passphrase")
    let new = choice ?? KeyChoice.passphrase
    let source = try new.source(
      for: place, opening: nil, option: "--new-passphrase", warning: output.output)
    guard try !place.isOpened(by: source) else {
      throw Failure(
        .usage,
        "that passphrase opens the vault already, and nothing was changed; give another. slots change "
          + "makes it the only one", path: place.path)
    }
    let before = try storage.keyAdministration.slots()
    try EndingKeys(place, before, new: new) { $0.kind != KeySlot.recoveryKind }
      .confirm(consent, output.output)
    try storage.keyAdministration.change(to: source)
    let slots = try storage.keyAdministration.slots()
    let ended = before.ended(in: slots)
    try output.output.done(
      "the new passphrase opens \(place.path)",
      .object([
        ("path", .string(place.path)),
        ("slots", .array(slots.map(\.json))), ("ended", .array(ended.map(\.json))),
      ]))
    output.output.note(ofEnded: ended)
  }
}
