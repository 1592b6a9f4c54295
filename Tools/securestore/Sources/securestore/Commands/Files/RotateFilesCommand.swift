internal import ArgumentParser
internal import FileBackend
internal import StorageCore
internal import VaultBackend

/// Replaces the keys of the index and of every file.
struct RotateFilesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate", abstract: "Replace all keys, and seal index and files again under them.",
    discussion: """
      Afterwards only the new key opens the folder (or, with --same-key, the present key); recovery \
      creates another recovery key. The command lists the keys that end and asks first, unless --yes is \
      given. The folder can be read and written meanwhile. Backups still open with their old keys.
      """)

  @Flag(
    name: .customLong("names"),
    help: "Also hash the names again, in one step that keeps others waiting.")
  var replacesNames = false
  @Flag(
    name: .customLong("same-key"), help: "Keep the key that opens the folder.")
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
      throw ValidationError("--names and --same-key can't be used with --resume")
    }
  }

  func run() throws {
    let isGiven = try newKey.choice() != nil
    guard [isGiven, keepsKey, resumes].count(where: { $0 }) == 1 else {
      throw Failure(
        .usage,
        "say which key opens the folder afterwards: give one --new- option, or --same-key if the present key "
          + "is still secret; --resume alone finishes a rotation")
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
    // Questions about the new key come before the progress line appears.
    let ending = EndingKeys(place.index, before, new: try newKey.choice()) { _ in true }
    let confirm = { (_: KeySlot?) in try ending.confirm(consent, output.output) }
    let use = try newKey.use(
      for: place.index,
      refusingOpenersWith: "give another, or give --same-key if it is still secret",
      confirm: confirm, output.output
    ) {
      output.output.note(
        "if this is interrupted, the folder may open only with the new key; files rotate --resume continues"
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
      "sealed \(Printable.count(rotation.resealedCount, "file")) again, and the index",
      .object([
        ("files", .number("\(rotation.resealedCount)")),
        ("reencrypted", .number("\(rotation.index.reencrypted)")),
        ("remaining", .array(rotation.remaining.map { .string($0) })),
        ("setAside", .number("\(rotation.index.setAside)")),
        ("ended", .array(ended.map(\.json))),
        ("leftToDo", .array(place.index.stepsAfterLeak.map { .string($0) })),
      ]))
    output.output.note(ofEnded: ended)
    for step in place.index.stepsAfterLeak { output.output.note(step) }
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
