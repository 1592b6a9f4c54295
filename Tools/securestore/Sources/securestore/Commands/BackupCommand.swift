internal import ArgumentParser
internal import Foundation
internal import VaultBackend

/// Copies a vault while it is in use.
struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Copy the vault to a new file, as it is at one moment.",
    discussion: """
      The copy is a sealed vault that opens with the same keys; keep it apart from them. The \
      folder of the copy must exist. Other programs may use the vault meanwhile. No key is needed. \
      A key option is accepted, as by every command, but not used. With --etcd, a new vault gets all \
      values, and opens with the key that opens the store, which is needed.
      """)

  @Argument(help: "The new file.", completion: .file()) var file: String

  @Flag(name: .customLong("replace"), help: "Replace an existing vault.") var replaces = false

  @OptionGroup(title: "Vault") var vault: VaultOptions
  @OptionGroup(title: "etcd") var etcd: EtcdOptions
  @OptionGroup(title: "Key, used with --etcd alone") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    if let place = try etcd.place(vault) { return try place.backup(to: file, key, output.output) }
    let place = try vault.place()
    try place.requireThere()
    try Path.requireName(file, instead: "; a backup needs a file")
    let path = try Path.absolute(file)
    let advice =
      replaces
      ? ". --replace replaces only a vault, and this is not a vault: give another path"
      : ". --replace replaces it if it is a vault"
    if let occupation = Path.occupation(of: path, instead: advice) {
      guard replaces, try Path.isVaultOrEmpty(path) else { throw occupation }
    }
    // A backup in a mistyped folder would be missed only when it is needed.
    try Path.requireFolder(of: path, "nothing was copied")
    // The copy stays sealed, so this asks for no key.
    let storage = place.storage(.firstAvailable([]), .readOnly)
    try Progress.showing("backup", output.output) { progress in
      try storage.backup(
        to: URL(fileURLWithPath: path), replacing: replaces, progress: progress)
    }
    try output.output.done("copied to \(path)", .object([("path", .string(path))]))
  }
}
