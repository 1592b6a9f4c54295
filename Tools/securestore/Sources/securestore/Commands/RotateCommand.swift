internal import ArgumentParser
internal import StorageCore
internal import VaultBackend

/// Replaces the keys that seal.
struct RotateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate", abstract: "Seal all values anew under a fresh key.",
    discussion: """
      Without an option, the key that seals values is replaced. --root replaces everything, after a \
      key leaked: all that opened the vault does so no more, recovery keys too, and the new key opens \
      it, or, with --same-key, the one that does now; recovery makes another recovery key. It says which \
      keys end, and asks first, unless --yes is given. --names \
      replaces the key that hashes names too. --resume goes on where one of these was interrupted. The \
      vault can be read and written meanwhile. Backups still open with the keys that they were made with.

      With --root, the old data keys end: a value that can't be opened, or that the vault's manifest does \
      not account for, is set aside. It stays in the vault and is read as damaged, until --resume --readmit \
      takes it back, which should be said only after somebody has looked at it. So verify the vault before.
      """)

  @Flag(name: .customLong("root"), help: "Replace the root key and what opens the vault.")
  var replacesRoot = false

  @Flag(
    name: .customLong("names"),
    help: "With --root: hash the names anew too, in one step that keeps others waiting.")
  var replacesNames = false

  @Flag(
    name: .customLong("same-key"),
    help: "With --root: let the key that opens the vault open it still.")
  var keepsKey = false

  @Flag(name: .customLong("resume"), help: "Finish a rotation that was interrupted.")
  var resumes = false

  @Flag(
    name: .customLong("keep-old-keys"),
    help:
      "With --root: let old data keys open what is not sealed anew, though they may have leaked.")
  var keepsOldKeys = false

  @Flag(
    name: .customLong("readmit"),
    help: "With --resume: take back all values that were set aside and can be opened.")
  var readmits = false

  @OptionGroup(title: "Vault") var vault: VaultOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "New key") var newKey: NewKeyOptions
  @OptionGroup var consent: ConsentOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    guard !(replacesRoot && resumes) else {
      throw ValidationError("give --root or --resume, not both")
    }
    guard replacesRoot || !(replacesNames || keepsKey || keepsOldKeys) else {
      throw ValidationError("--names, --same-key and --keep-old-keys go with --root")
    }
    guard resumes || !readmits else { throw ValidationError("--readmit goes with --resume") }
  }

  func run() throws {
    try checkNewKey()
    let place = try vault.place()
    let storage = try place.open(key)
    try storage.open()
    let administration = storage.keyAdministration
    let before = try administration.slots()
    if replacesRoot, !keepsKey {
      let old = try place.keyFile(key)
      // What asks for the new key is done before there is progress to show.
      let advice =
        "give another, or --same-key if it is still a secret; --resume finishes a rotation"
      let ending = EndingKeys(place, before, new: try newKey.choice()) { _ in true }
      let confirm = { (_: KeySlot?) in try ending.confirm(consent, output.output) }
      let use = try newKey.use(
        for: place, refusingOpenersWith: advice, confirm: confirm, output.output
      ) {
        output.output.note(
          "if this is interrupted, the vault may open with the new key alone; rotate --resume goes on"
        )
        return try rotate(administration, openedBy: $0)
      }
      let after = try administration.slots()
      try answer(
        use.result, place, KeyFiles(old: old, new: use.file.path(in: after)),
        before.ended(in: after))
      use.file.note(after, output.output)
      return output.output.note(ofPassphrasesIn: after)
    }
    let kept = keepsKey ? try administration.ownSlot() : nil
    if keepsKey {
      try EndingKeys(place, before) { $0 != kept }.confirm(consent, output.output)
    }
    let report = try rotate(administration)
    try answer(
      report, place, KeyFiles(old: nil, new: nil),
      before.ended(in: try administration.slots(), keeping: kept))
  }

  /// The key file that opened the vault, and the one that opens it now, where there are such.
  private struct KeyFiles {
    private let old: String?
    private let new: String?

    init(old: String?, new: String?) {
      self.new = new
      self.old = Path.identity(old) == nil ? nil : old
    }

    var members: [(String, JSONValue)] {
      [("keyFile", new), ("oldKeyFile", old)].compactMap { name, path in
        path.map { (name, .string($0)) }
      }
    }

    /// What is left to do.
    var notes: [String] {
      var notes: [String] = []
      if let new {
        notes.append(
          "the key is in \(new) now; see that the application uses it, and that there is a copy")
      }
      if let old {
        notes.append(
          "\(old) opens this vault no more, only backups from before. It was left, since others may be "
            + "sealed under it too; when none is, and those backups are not needed either, it and "
            + "\(old).made can be removed")
      }
      return notes
    }
  }

  private func rotate(
    _ administration: KeyAdministration, openedBy source: KeySource? = nil
  ) throws -> ReencryptionReport {
    try Progress.showing("rotate", output.output) { progress in
      if replacesRoot {
        try administration.rotate(
          openedBy: source, names: replacesNames, keepingOldKeys: keepsOldKeys, progress: progress)
      } else if resumes {
        try administration.reencrypt(readmitting: readmits, progress: progress)
      } else {
        try administration.rotateDataKey(progress: progress)
      }
    }
  }

  private func checkNewKey() throws {
    let isGiven = try newKey.choice() != nil
    guard replacesRoot || !isGiven else {
      throw Failure(.usage, "a new key goes with --root; to change the key alone, use slots change")
    }
    guard !(isGiven && keepsKey) else {
      throw Failure(.usage, "give a --new- option or --same-key, not both")
    }
    guard !replacesRoot || isGiven || keepsKey else {
      throw Failure(
        .usage,
        "say what opens the vault afterwards: a --new- option, or --same-key if that key is still "
          + "a secret")
    }
  }

  private func answer(
    _ report: ReencryptionReport, _ place: VaultPlace, _ files: KeyFiles, _ ended: [KeySlot]
  ) throws {
    try output.output.done(
      "sealed \(Printable.count(report.reencrypted, "value")) anew",
      .object(
        [
          ("reencrypted", .number("\(report.reencrypted)")),
          ("remaining", .number("\(report.remaining)")),
          ("setAside", .number("\(report.setAside)")),
          ("setAsideNames", .array(report.setAsideKeys.map { .string($0) })),
          ("ended", .array(ended.map(\.json))),
        ] + files.members))
    output.output.note(ofEnded: ended)
    for note in files.notes { output.output.note(note) }
    if try replacesRoot && place.isIndexOfFiles {
      output.output.note(
        "this is the index of a sealed folder, whose files are still sealed under keys that the old key "
          + "led to: seal them anew with files rotate --resume")
    }
    let isNew = replacesRoot && !keepsKey
    let left = report.left(
      underOldKeyThatOpensWith: isNew ? "the vault's new key" : "the vault's key",
      takenBackBy: readmits ? nil : "rotate --resume --readmit")
    guard left.isEmpty else { throw Failure(.unsound, left.joined(separator: "; ")) }
  }
}
