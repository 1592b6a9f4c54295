internal import ArgumentParser
internal import FileBackend
internal import StorageCore
internal import VaultBackend

/// Replaces the keys that seal values.
struct RotateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate", abstract: "Seal all values again under a fresh key.",
    discussion: """
      Without an option, only the data key is replaced. If a key leaked, use --root: afterwards only the new \
      key opens the store (or, with --same-key, the present one), and recovery keys end. The command lists \
      the keys that end and asks first, unless --yes is given. The store can be used meanwhile; if the \
      rotation is interrupted, --resume continues it. Backups still open with their old keys. Run verify \
      first: with --root, a value that can't be opened is set aside until --resume --readmit takes it back. \
      A sealed folder always gets a new root key, and its files are sealed again.
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

  @OptionGroup(title: "Store") var store: StoreOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "New key") var newKey: NewKeyOptions
  @OptionGroup var consent: ConsentOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    guard !(replacesRoot && resumes) else {
      throw ValidationError("give --root or --resume, not both")
    }
    guard replacesRoot || store.isOfFolder || !(replacesNames || keepsKey || keepsOldKeys) else {
      throw ValidationError("--names, --same-key and --keep-old-keys need --root")
    }
    guard !resumes || !(replacesNames || keepsKey) else {
      throw ValidationError("--names and --same-key can't be used with --resume")
    }
    guard resumes || !readmits else { throw ValidationError("--readmit needs --resume") }
  }

  func run() throws { try store.place().rotate(self) }

  /// What a rotation has done, for people and for programs.
  fileprivate struct Outcome {
    let text: String
    let json: JSONValue
    var notes: [String] = []
    /// What was left as it is.
    let left: [String]
  }

  /// Rotates a vault or a sealed folder, after asking whether keys may end.
  ///
  /// - Parameters:
  ///   - index: the vault whose slots open the store.
  ///   - administration: the keys of the store, which is open.
  ///   - replacesRoot: whether the root key is replaced.
  ///   - body: rotates; it gets the new key.
  /// - Throws: `Failure` if no key may end or values are left, or an error of `body`.
  fileprivate func rotate(
    _ index: VaultPlace, _ administration: KeyAdministration, replacingRoot replacesRoot: Bool,
    _ body: (KeySource?, @escaping (Int, Int) -> Void) throws -> Outcome
  ) throws {
    let output = output.output
    let before = try administration.slots()
    guard replacesRoot, !keepsKey else {
      let kept = keepsKey ? try administration.ownSlot() : nil
      if keepsKey { try EndingKeys(index, before) { $0 != kept }.confirm(consent, output) }
      let outcome = try Progress.showing("rotate", output) { try body(nil, $0) }
      return try answer(
        outcome, index, KeyFiles(), before.ended(in: try administration.slots(), keeping: kept))
    }
    let old = try index.keyFile(key)
    // Questions about the new key come before the progress line appears.
    let ending = EndingKeys(index, before, new: try newKey.choice()) { _ in true }
    let confirm = { (_: KeySlot?) in try ending.confirm(consent, output) }
    let use = try newKey.use(
      for: index,
      refusingOpenersWith:
        "give another, or give --same-key if it is still secret; --resume finishes a rotation",
      confirm: confirm, output
    ) { source in
      output.note(
        "if this is interrupted, the store may open only with the new key; rotate --resume continues"
      )
      return try Progress.showing("rotate", output) { try body(source, $0) }
    }
    let after = try administration.slots()
    try answer(
      use.result, index, KeyFiles(old: old, new: use.file.path(in: after)), before.ended(in: after))
    use.file.note(after, output)
    output.note(ofPassphrasesIn: after)
  }

  /// The key file that opened the vault before, and the one that opens it now, if there are any.
  private struct KeyFiles {
    private let old: String?
    private let new: String?

    init(old: String? = nil, new: String? = nil) {
      self.new = new
      self.old = Path.identity(old) == nil ? nil : old
    }

    var json: JSONValue {
      .object(
        [("keyFile", new), ("oldKeyFile", old)].compactMap { name, path in
          path.map { (name, .string($0)) }
        })
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

  fileprivate func requireNewKey(_ what: String) throws {
    let isGiven = try newKey.choice() != nil
    guard !(isGiven && keepsKey) else {
      throw Failure(.usage, "give a --new- option or --same-key, not both")
    }
    guard (isGiven || keepsKey) != resumes else {
      throw Failure(
        .usage,
        "say which key opens the \(what) afterwards: give a --new- option, or --same-key if the present key is "
          + "still secret; --resume alone finishes a rotation")
    }
  }

  private func answer(
    _ outcome: Outcome, _ index: VaultPlace, _ files: KeyFiles, _ ended: [KeySlot]
  ) throws {
    let steps = index.stepsAfterLeak
    try output.output.done(
      outcome.text,
      outcome.json.with(["ended": ended, "leftToDo": steps], files.json))
    output.output.note(ofEnded: ended)
    for note in files.notes + outcome.notes { output.output.note(note) }
    if replacesRoot || resumes || store.isOfFolder {
      for step in steps { output.output.note(step) }
    }
    guard outcome.left.isEmpty else {
      throw Failure(.unsound, outcome.left.joined(separator: "; "))
    }
  }
}

extension VaultPlace {
  func rotate(_ command: RotateCommand) throws {
    let isGiven = try command.newKey.choice() != nil
    guard command.replacesRoot || !isGiven else {
      throw Failure(
        .usage,
        "a --new- option needs --root. To change the key without sealing the values again, use slots change"
      )
    }
    if command.replacesRoot { try command.requireNewKey("vault") }
    let storage = try open(command.key)
    try storage.open()
    let keys = storage.keyAdministration
    try command.rotate(self, keys, replacingRoot: command.replacesRoot) { source, progress in
      let report =
        if command.replacesRoot {
          try keys.rotate(
            openedBy: source, names: command.replacesNames, keepingOldKeys: command.keepsOldKeys,
            progress: progress)
        } else {
          try keys.rotateOrResume(command, progress)
        }
      let isNew = command.replacesRoot && !command.keepsKey
      return RotateCommand.Outcome(
        text: "sealed \(Printable.count(report.reencrypted, "value")) again",
        json: report.json.with(["retiredKeys": report.retiredKeyCount]),
        notes: try command.replacesRoot && isIndexOfFiles
          ? [
            "this is the index of a sealed folder, and its files are still sealed under keys that the old key "
              + "opens: seal them again with files rotate --resume"
          ] : [],
        left: report.left(
          underOldKeyThatOpensWith: isNew ? "the vault's new key" : "the vault's key",
          takenBackBy: command.readmits ? nil : "rotate --resume --readmit"))
    }
  }
}

extension FolderPlace {
  func rotate(_ command: RotateCommand) throws {
    guard !command.keepsOldKeys, !command.readmits else {
      throw Failure(
        .usage,
        "--keep-old-keys and --readmit are for a vault: name the folder's index, --vault PATH",
        path: index.path)
    }
    try command.requireNewKey("folder")
    let folder = try open(command.key)
    try folder.open()
    try command.rotate(index, folder.keyAdministration, replacingRoot: !command.resumes) {
      source, progress in
      let rotation =
        if command.resumes {
          try folder.reencrypt { progress($0, $1 ?? 0) }
        } else {
          try folder.rotate(openedBy: source, names: command.replacesNames) {
            progress($0, $1 ?? 0)
          }
        }
      let unread =
        "\(Printable.count(rotation.remaining.count, "value")) can't be read and stay as they are; see "
        + "files verify"
      return RotateCommand.Outcome(
        text: "sealed \(Printable.count(rotation.resealedCount, "file")) again, and the index",
        json: [
          "files": rotation.resealedCount, "reencrypted": rotation.index.reencrypted,
          "remaining": rotation.remaining, "setAside": rotation.index.setAside,
        ],
        left: rotation.index.left(
          underOldKeyThatOpensWith: "the folder's key",
          takenBackBy: "rotate --resume --readmit --vault \(index.path)")
          + (rotation.remaining.isEmpty ? [] : [unread]))
    }
  }
}

extension KeyAdministration {
  /// Finishes a rotation of the data key, or begins one.
  func rotateOrResume(
    _ command: RotateCommand, _ progress: @escaping (Int, Int) -> Void
  ) throws -> ReencryptionReport {
    try command.resumes
      ? reencrypt(readmitting: command.readmits, progress: progress)
      : rotateDataKey(progress: progress)
  }
}
