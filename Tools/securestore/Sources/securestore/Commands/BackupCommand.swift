internal import ArgumentParser
internal import Foundation
internal import VaultBackend

/// Copies a vault while it is in use.
struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Copy the vault, as it is at one moment, to a new file.",
    discussion: """
      The copy is a vault as this one, sealed, and opens with the same keys; keep it apart from \
      them. Its folder has to be there. Others may use the vault meanwhile. No key is needed; a key \
      option is taken, so that all commands take the same, and not used.
      """)

  @Argument(help: "The new file.", completion: .file()) var file: String

  @Flag(name: .customLong("replace"), help: "Replace a vault that is there.") var replaces = false

  @OptionGroup(title: "Vault") var vault: VaultOptions
  @OptionGroup(title: "Key, not used") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let place = try vault.place()
    try place.requireThere()
    try Path.requireName(file, instead: ", and a backup needs one")
    let path = Path.absolute(file)
    let advice =
      replaces
      ? ". --replace replaces only a vault, and this is none: give another path"
      : ". --replace replaces it if it is a vault"
    if let occupation = Path.occupation(of: path, instead: advice) {
      guard replaces, try Path.isVaultOrEmpty(path) else { throw occupation }
    }
    // What is made in a wrong place would be missed when it is too late.
    try Path.requireFolder(of: path, "nothing was copied")
    // The copy stays sealed: no key is asked for.
    let storage = place.storage(.firstAvailable([]), .readOnly)
    try Progress.showing("backup", output.output) { progress in
      try storage.backup(
        to: URL(fileURLWithPath: path), replacing: replaces, progress: progress)
    }
    try output.output.done("copied to \(path)", .object([("path", .string(path))]))
  }
}
