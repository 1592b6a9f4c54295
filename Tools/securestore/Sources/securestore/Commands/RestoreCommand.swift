internal import ArgumentParser
internal import Foundation
internal import VaultBackend

/// Makes a vault what a backup was.
struct RestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Make the vault what a backup was, or make it of the backup.",
    discussion: """
      All values and all keys are the backup's afterwards, in one step; what was written since is \
      gone. The backup has to open and to be sound. It asks first when there is a vault, unless \
      --yes is given. A file that is too broken for that is replaced and stays beside the vault; then \
      it says where.
      """)

  @Argument(help: "The backup.", completion: .file()) var file: String

  @Flag(name: .customLong("yes"), help: "Don't ask.") var isConfirmed = false

  @OptionGroup(title: "Vault") var vault: VaultOptions
  @OptionGroup(title: "Key of the backup") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let place = try vault.place()
    let backup = Path.absolute(file)
    guard try Path.isThere(backup) else {
      throw Failure(.noInput, "there is no backup", path: backup)
    }
    let storage = place.storage(try place.keySource(key, of: backup))
    let before = place.readableSlots(of: place.path)
    if !isConfirmed, try Path.isThere(place.path) {
      let terminal = try Terminal(for: "a confirmation", instead: "--yes")
      for slot in before.ended(in: place.readableSlots(of: backup)) {
        try terminal.show("This key opens the vault no more: " + slot.described(at: place))
      }
      let what =
        try Path.isVaultOrEmpty(place.path)
        ? "everything in \(place.path)"
        : "\(place.path), which is no vault or begins with damage and will be put aside,"
      guard try terminal.confirm("Replace \(what) by what is in \(backup)?")
      else { throw Failure(.cancelled, "nothing was done", path: place.path) }
    }
    let folders = try place.missingFolders()
    let restored = try Progress.showing("restore", output.output) { progress in
      try storage.restore(from: URL(fileURLWithPath: backup), progress: progress)
    }
    let old =
      restored.oldFile.map { "; the old file, which was broken or no vault, is \($0)" } ?? ""
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
      ]))
    output.output.note(ofNew: folders)
    output.output.note(ofEnded: ended)
  }
}
