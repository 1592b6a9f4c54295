internal import ArgumentParser
internal import StorageCore
internal import VaultBackend

/// Replaces the keys that seal values.
struct RotateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate", abstract: "Seal all values again under a fresh key.",
    discussion: """
      Without an option, only the data key is replaced. Use --root if a key leaked: it replaces \
      everything, and only the new key opens the vault afterwards (or, with --same-key, the present \
      key). Recovery keys end too; recovery creates another. The command lists the keys that end and \
      asks first, unless --yes is given. --names also replaces the key that hashes names. --resume \
      continues an interrupted rotation. The vault can be read and written meanwhile. Backups still open \
      with their old keys.

      With --root, the old data keys end. A value that can't be opened, or that the vault's manifest does \
      not account for, is set aside: it stays in the vault and is read as damaged until --resume --readmit \
      takes it back. Look at such values before you take them back, and run verify before you rotate.
      """)

  @Flag(name: .customLong("root"), help: "Replace the root key and all keys that open the vault.")
  var replacesRoot = false

  @Flag(
    name: .customLong("names"),
    help: "With --root: also hash the names again, in one step that keeps others waiting.")
  var replacesNames = false

  @Flag(
    name: .customLong("same-key"),
    help: "With --root: keep the key that opens the vault.")
  var keepsKey = false

  @Flag(name: .customLong("resume"), help: "Finish a rotation that was interrupted.")
  var resumes = false

  @Flag(
    name: .customLong("keep-old-keys"),
    help:
      "With --root: keep old data keys, which may have leaked, for values not sealed again.")
  var keepsOldKeys = false

  @Flag(
    name: .customLong("readmit"),
    help: "With --resume: take back every value that was set aside and can be opened.")
  var readmits = false

  @OptionGroup(title: "Vault") var vault: VaultOptions
  @OptionGroup(title: "etcd") var etcd: EtcdOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "New key") var newKey: NewKeyOptions
  @OptionGroup var consent: ConsentOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    guard !(replacesRoot && resumes) else {
      throw ValidationError("give --root or --resume, not both")
    }
    guard replacesRoot || !(replacesNames || keepsKey || keepsOldKeys) else {
      throw ValidationError("--names, --same-key and --keep-old-keys need --root")
    }
    guard resumes || !readmits else { throw ValidationError("--readmit needs --resume") }
  }

  func run() throws {
    if let place = try etcd.place(vault) {
      guard !replacesRoot, try newKey.choice() == nil else {
        throw Failure(
          .usage,
          "machines share the store, so its root key is replaced by a program: EtcdStorage.rotate")
      }
      return try place.rotate(
        resuming: resumes, readmitting: readmits, key, output.output)
    }
    try checkNewKey()
    let place = try vault.place()
    let storage = try place.open(key)
    try storage.open()
    let administration = storage.keyAdministration
    let before = try administration.slots()
    if replacesRoot, !keepsKey {
      let old = try place.keyFile(key)
      // Questions about the new key come before the progress line appears.
      let advice =
        "give another, or give --same-key if it is still secret; --resume finishes a rotation"
      let ending = EndingKeys(place, before, new: try newKey.choice()) { _ in true }
      let confirm = { (_: KeySlot?) in try ending.confirm(consent, output.output) }
      let use = try newKey.use(
        for: place, refusingOpenersWith: advice, confirm: confirm, output.output
      ) {
        output.output.note(
          "if this is interrupted, the vault may open only with the new key; rotate --resume continues"
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

  /// The key file that opened the vault before, and the one that opens it now, if there are any.
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

    /// The steps that are left to do.
    var notes: [String] {
      var notes: [String] = []
      if let new {
        notes.append(
          "the key is now in \(new); check that the application uses it, and keep a copy")
      }
      if let old {
        notes.append(
          "\(old) no longer opens this vault, only older backups. It was not deleted, since other data may "
            + "be sealed under it too. When you need neither such data nor those backups, delete it and "
            + "\(old).made")
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
      throw Failure(
        .usage,
        "a --new- option needs --root. To change the key without sealing the values again, use slots change"
      )
    }
    guard !(isGiven && keepsKey) else {
      throw Failure(.usage, "give a --new- option or --same-key, not both")
    }
    guard !replacesRoot || isGiven || keepsKey else {
      throw Failure(
        .usage,
        "say which key opens the vault afterwards: give a --new- option, or --same-key if the present key is "
          + "still secret")
    }
  }

  private func answer(
    _ report: ReencryptionReport, _ place: VaultPlace, _ files: KeyFiles, _ ended: [KeySlot]
  ) throws {
    try output.output.done(
      "sealed \(Printable.count(report.reencrypted, "value")) again",
      .object(
        [
          ("reencrypted", .number("\(report.reencrypted)")),
          ("remaining", .number("\(report.remaining)")),
          ("setAside", .number("\(report.setAside)")),
          ("setAsideNames", .array(report.setAsideKeys.map { .string($0) })),
          ("retiredKeys", .number("\(report.retiredKeyCount)")),
          ("ended", .array(ended.map(\.json))),
          ("leftToDo", .array(place.stepsAfterLeak.map { .string($0) })),
        ] + files.members))
    output.output.note(ofEnded: ended)
    for note in files.notes { output.output.note(note) }
    if try replacesRoot && place.isIndexOfFiles {
      output.output.note(
        "this is the index of a sealed folder, and its files are still sealed under keys that the old key "
          + "opens: seal them again with files rotate --resume")
    }
    if replacesRoot || resumes {
      for step in place.stepsAfterLeak { output.output.note(step) }
    }
    let isNew = replacesRoot && !keepsKey
    let left = report.left(
      underOldKeyThatOpensWith: isNew ? "the vault's new key" : "the vault's key",
      takenBackBy: readmits ? nil : "rotate --resume --readmit")
    guard left.isEmpty else { throw Failure(.unsound, left.joined(separator: "; ")) }
  }
}
