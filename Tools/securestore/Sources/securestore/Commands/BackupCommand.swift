internal import ArgumentParser
internal import FileBackend
internal import Foundation
internal import VaultBackend

/// Copies a store while it is in use.
struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Copy the store to a new place, as it is at one moment.",
    discussion: """
      The copy is sealed and opens with the same keys; keep it apart from them. Its parent folder must \
      exist. Other programs may use the store meanwhile. For a vault no key is needed. With --etcd or --postgres, a new \
      vault gets all values and opens with the store's key. A value of a sealed folder that can't be read \
      stops the backup; with --skip-damaged such values are left out and named, and the exit code is 12.
      """)

  @Argument(help: "The new file or folder.", completion: .file()) var target: String

  @Flag(name: .customLong("replace"), help: "Replace an existing vault.") var replaces = false

  @Flag(
    name: .customLong("skip-damaged"),
    help: "In a sealed folder: leave out values that can't be read completely, and name them.")
  var skipsDamaged = false

  @OptionGroup var accept: AcceptOptions
  @OptionGroup(title: "Store") var store: StoreOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    guard skipsDamaged || accept.kinds.isEmpty else {
      throw ValidationError("--accept needs --skip-damaged: a copy without it is as the folder is")
    }
  }

  func run() throws {
    let place = try store.place()
    guard !skipsDamaged || place is FolderPlace else {
      throw Failure(.usage, "--skip-damaged is for a sealed folder")
    }
    guard !replaces || place is VaultPlace else {
      throw Failure(.usage, "--replace is for a vault")
    }
    try place.backup(self)
  }

  /// The absolute path of the copy, where nothing is, or a vault that may be replaced.
  ///
  /// A backup in a mistyped folder would be missed only when it is needed.
  func free(canReplace: Bool = false) throws -> String {
    try Path.requireName(target, instead: "; a backup needs a file")
    let path = try Path.absolute(target)
    let advice =
      !canReplace
      ? ""
      : replaces
        ? ". --replace replaces only a vault, and this is not a vault: give another path"
        : ". --replace replaces it if it is a vault"
    if let occupation = Path.occupation(of: path, instead: advice) {
      guard replaces, try Path.isVaultOrEmpty(path) else { throw occupation }
    }
    try Path.requireFolder(of: path, "nothing was copied")
    return path
  }
}

extension VaultPlace {
  func backup(_ command: BackupCommand) throws {
    try requireThere()
    let path = try command.free(canReplace: true)
    try Self.requireNoIndex(path)
    // The copy stays sealed, so this asks for no key.
    let storage = storage(.firstAvailable([]), .readOnly)
    try Progress.showing("backup", command.output.output) { progress in
      try storage.backup(
        to: URL(fileURLWithPath: path), replacing: command.replaces, progress: progress)
    }
    try command.output.output.done("copied to \(path)", ["path": path])
  }
}

extension FolderPlace {
  func backup(_ command: BackupCommand) throws {
    let output = command.output.output
    let folder = try open(command.key, .readOnly)
    let path = try command.free()
    let backup = try Progress.showing("backup", output) { progress in
      try folder.backup(
        to: URL(fileURLWithPath: path, isDirectory: true),
        leavingOutUnreadable: command.skipsDamaged, accepting: command.accept.kinds
      ) {
        progress($0, $1 ?? 0)
      }
    }
    var leftOut = LeftOut(unnamed: backup.unnamedCount)
    for left in backup.leftOut {
      leftOut.add(left.name, ExitStatus(left.error.code), left.error.message, output)
    }
    try output.done(
      "copied to \(path)",
      [
        "path": path, "leftOut": backup.leftOut.map(\.name), "unnamed": backup.unnamedCount,
        "accepted": backup.accepted, "unprovenNames": backup.unprovenNames,
      ])
    for finding in backup.accepted { output.warn(.unsound, "accepted " + finding.row) }
    if !backup.unprovenNames.isEmpty {
      output.note(
        "may be older than the last write, or removed since: "
          + backup.unprovenNames.joined(separator: ", "))
    }
    guard let status = leftOut.status else { return }
    throw Failure(
      status,
      "\(Printable.count(leftOut.count, "value")) can't be read and "
        + "\(leftOut.count == 1 ? "is" : "are") not in the copy; \(leftOut.advice)",
      path: path)
  }
}
