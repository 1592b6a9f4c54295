internal import ArgumentParser
internal import FileBackend
internal import StorageCore
internal import VaultBackend

/// Replaces the keys that seal, of the index and of every file.
struct RotateFilesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate", abstract: "Replace all keys, and seal index and files anew under them.",
    discussion: """
      Afterwards the new key alone opens the folder, or, with --same-key, the one that does now; recovery \
      makes another recovery key. It says which keys end, and asks first, unless --yes is given. The folder can be read and written meanwhile. Backups still open with \
      the keys that they were made with.
      """)

  @Flag(
    name: .customLong("names"),
    help: "Hash the names anew too, in one step that keeps others waiting.")
  var replacesNames = false
  @Flag(
    name: .customLong("same-key"), help: "Let the key that opens the folder open it still.")
  var keepsKey = false
  @Flag(name: .customLong("resume"), help: "Finish a rotation that was interrupted.")
  var resumes = false

  @OptionGroup(title: "Folder") var folder: FolderOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "New key") var newKey: NewKeyOptions
  @OptionGroup var consent: ConsentOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    guard !resumes || !(replacesNames || keepsKey) else {
      throw ValidationError("--names and --same-key don't go with --resume")
    }
  }

  func run() throws {
    let isGiven = try newKey.choice() != nil
    guard [isGiven, keepsKey, resumes].count(where: { $0 }) == 1 else {
      throw Failure(
        .usage,
        "say what opens the folder afterwards: one --new- option, or --same-key if that key is still a "
          + "secret; --resume alone finishes a rotation")
    }
    let place = try folder.place()
    let folder = try place.open(key)
    let administration = folder.keyAdministration
    try folder.open()
    let before = try administration.slots()
    guard isGiven else {
      let kept = keepsKey ? try administration.ownSlot() : nil
      if keepsKey {
        try EndingKeys(place.index, before) { $0 != kept }.confirm(consent, output.output)
      }
      let rotation = try rotate(folder)
      return try answer(
        rotation, place, before.ended(in: try administration.slots(), keeping: kept))
    }
    // What asks for the new key is done before there is progress to show.
    let ending = EndingKeys(place.index, before, new: try newKey.choice()) { _ in true }
    let confirm = { (_: KeySlot?) in try ending.confirm(consent, output.output) }
    let use = try newKey.use(
      for: place.index,
      refusingOpenersWith: "give another, or --same-key if it is still a secret",
      confirm: confirm, output.output
    ) {
      output.output.note(
        "if this is interrupted, the folder may open with the new key alone; files rotate --resume goes on"
      )
      return try rotate(folder, openedBy: $0)
    }
    let after = try administration.slots()
    try answer(use.result, place, before.ended(in: after))
    use.file.note(after, output.output)
    output.output.note(ofPassphrasesIn: after)
  }

  private func rotate(
    _ folder: SealedFolder, openedBy source: KeySource? = nil
  ) throws -> SealedFolderRotation {
    try Progress.showing("rotate", output.output) { progress in
      if resumes {
        try folder.reencrypt { progress($0, $1 ?? 0) }
      } else {
        try folder.rotate(openedBy: source, names: replacesNames) { progress($0, $1 ?? 0) }
      }
    }
  }

  private func answer(_ rotation: SealedFolderRotation, _ place: FolderPlace, _ ended: [KeySlot])
    throws
  {
    try output.output.done(
      "sealed \(Printable.count(rotation.resealedCount, "file")) anew, and the index",
      .object([
        ("files", .number("\(rotation.resealedCount)")),
        ("reencrypted", .number("\(rotation.index.reencrypted)")),
        ("remaining", .array(rotation.remaining.map { .string($0) })),
        ("setAside", .number("\(rotation.index.setAside)")),
        ("ended", .array(ended.map(\.json))),
      ]))
    output.output.note(ofEnded: ended)
    let left = rotation.index.left(
      underOldKeyThatOpensWith: "the folder's key",
      takenBackBy: "rotate --resume --readmit --vault \(place.index.path)")
    guard rotation.remaining.isEmpty, left.isEmpty else {
      let unread =
        rotation.remaining.isEmpty
        ? []
        : [
          "\(Printable.count(rotation.remaining.count, "value")) can't be read and stay as they are; see "
            + "files verify"
        ]
      throw Failure(.unsound, (left + unread).joined(separator: "; "))
    }
  }
}
