internal import ArgumentParser
internal import Foundation
internal import VaultBackend

/// Replaces the contents of a vault with those of a backup.
struct RestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Replace the vault, or create it, from a backup.",
    discussion: """
      Replaces all values and all keys with the backup's, in one step; later changes are lost. The \
      backup must open and must be sound. The command asks first if the vault exists, unless --yes is \
      given. If the vault's file is too broken, it is replaced: the old file stays beside the vault, \
      and the command says where. If a recovery key opened the backup, as on another machine, the \
      application's own key opens the vault afterwards, too; it is created if it does not exist. With \
      --etcd, the values of a vault are put into the store, and other values stay.
      """)

  @Argument(help: "The backup.", completion: .file()) var file: String

  @Flag(name: .customLong("yes"), help: "Don't ask.") var isConfirmed = false

  @OptionGroup(title: "Vault") var vault: VaultOptions
  @OptionGroup(title: "etcd") var etcd: EtcdOptions
  @OptionGroup(title: "Key of the backup") var key: KeyOptions
  @OptionGroup(title: "New key") var newKey: NewKeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    if let place = try etcd.place(vault) {
      return try place.restore(from: file, isConfirmed: isConfirmed, key, output.output)
    }
    let place = try vault.place()
    let backup = try Path.absolute(file)
    guard try Path.isThere(backup) else {
      throw Failure(.noInput, "the backup does not exist", path: backup)
    }
    let storage = place.storage(try place.keySource(key, of: backup))
    let before = place.readableSlots(of: place.path)
    if !isConfirmed, try Path.isThere(place.path) {
      let terminal = try Terminal(for: "a confirmation", instead: "--yes")
      for slot in before.ended(in: place.readableSlots(of: backup)) {
        try terminal.show("This key will no longer open the vault: " + slot.described(at: place))
      }
      let what =
        try Path.isVaultOrEmpty(place.path)
        ? "everything in \(place.path)"
        : "\(place.path), which is not a vault or is damaged at its start and will be moved aside,"
      guard try terminal.confirm("Replace \(what) with the contents of \(backup)?")
      else { throw Failure(.cancelled, "nothing was changed", path: place.path) }
    }
    let folders = try place.missingFolders()
    let restored = try Progress.showing("restore", output.output) { progress in
      try storage.restore(from: URL(fileURLWithPath: backup), progress: progress)
    }
    let added = try place.admit(
      newKey, afterOpeningWith: key.choice(), to: storage.keyAdministration, output.output)
    let old =
      restored.oldFile.map { "; the old file, which was broken or not a vault, is \($0)" } ?? ""
    let ended = before.ended(in: place.readableSlots(of: place.path))
    try output.output.done(
      "restored \(place.path) from \(backup): "
        + "\(Printable.count(restored.recordCount, "value"))\(old)",
      .object([
        ("path", .string(place.path)), ("backup", .string(backup)),
        ("values", .number("\(restored.recordCount)")),
        ("oldFile", restored.oldFile.map { .string($0) } ?? .null),
        ("folders", .array(folders.map { .string($0) })),
        ("ended", .array(ended.map(\.json))),
        ("addedSlot", added.map(\.slot.json) ?? .null),
      ]))
    added?.note(output.output)
    output.output.note(ofNew: folders)
    output.output.note(ofEnded: ended)
  }
}
