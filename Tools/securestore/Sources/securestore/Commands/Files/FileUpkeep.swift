internal import ArgumentParser
internal import FileBackend
internal import Foundation
internal import StorageCore
internal import VaultBackend

/// Checks everything in a sealed folder.
struct VerifyFilesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Check the index, and that every value exists and is whole.",
    discussion: """
      The command reads everything. It names each value that is missing, damaged or not what the index \
      says, and each file that belongs to no name. Exits with 2 if it finds a problem. Other programs \
      may use the folder meanwhile.
      """)

  @OptionGroup(title: "Folder") var folder: FolderOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let place = try folder.place()
    let folder = try place.open(key, .readOnly)
    let report = try FolderPlace.verify(folder, output.output)
    if output.isJSON {
      try output.output.json(report.json)
    } else {
      for row in report.rows { try output.output.line(row) }
    }
    guard report.isSound else {
      throw Failure(
        .unsound, "the folder is not sound; restore a backup, or run files repair",
        path: place.path)
    }
    output.output.note(
      "\(Printable.count(report.nameCount, "value")), \(Printable.bytes(report.byteCount)), nothing wrong"
    )
    if report.oldBlobCount > 0 || report.index.oldKeyCount > 0 {
      output.output.note(
        "\(Printable.count(report.oldBlobCount, "file")) not sealed since the last rotation: a rotation was "
          + "interrupted or is running, or an earlier release sealed it; files rotate --resume seals it "
          + "again")
    }
  }
}

/// Accepts the present state of a sealed folder that is not sound.
struct RepairFilesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "repair",
    abstract: "Accept a sealed folder that is not sound, after showing what is wrong.",
    discussion: """
      The index is repaired as repair does. Nothing is removed without a --drop- option: a backup may \
      still have an undamaged copy of a file. The command asks first, unless --yes is given. With \
      --yes, what somebody may have done to the index without the keys is accepted only if --accept \
      names it.
      """)

  @Flag(name: .customLong("yes"), help: "Don't ask.") var isConfirmed = false
  @OptionGroup var accept: AcceptOptions
  @Flag(
    name: .customLong("drop-unreadable"),
    help: "Remove for good the names whose value can't be read completely.")
  var dropsUnreadable = false
  @Flag(name: .customLong("drop-unnamed"), help: "Remove for good the files without a name.")
  var dropsUnnamed = false

  @OptionGroup(title: "Folder") var folder: FolderOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let place = try folder.place()
    let folder = try place.open(key)
    let report = try FolderPlace.verify(folder, output.output)
    guard !report.isSound else {
      return try output.output.done(
        "nothing is wrong; nothing was changed", .object([("accepted", report.json)]))
    }
    if isConfirmed {
      try accept.requireNamed(report.index, place.path)
    } else {
      try confirm(report, place)
    }
    let repair = try folder.repair(
      accepting: report, removingUnreadable: dropsUnreadable, removingUnnamed: dropsUnnamed)
    let left = dropsUnreadable ? 0 : Set(report.findings.compactMap(\.name)).count
    try output.output.done(
      "repaired \(place.path); removed \(Printable.count(repair.removedNames.count, "name")) and "
        + Printable.count(repair.removedBlobCount, "file")
        + (left == 0
          ? ""
          : "; \(Printable.count(left, "value")) still can't be read; --drop-unreadable removes them"),
      .object([
        ("path", .string(place.path)), ("accepted", report.json),
        ("removed", .array(repair.removedNames.map { .string($0) })),
        ("removedFiles", .number("\(repair.removedBlobCount)")),
        ("unproven", .number("\(repair.index.unprovenCount)")),
        ("unprovenNames", .array(repair.index.unprovenKeys.map { .string($0) })),
        ("oldFile", repair.index.oldFile.map { .string($0) } ?? .null),
      ]))
    for name in repair.removedNames { output.output.note("removed \(name)") }
    if repair.index.unprovenCount > 0 { output.output.note(repair.index.unprovenText) }
  }

  private func confirm(_ report: SealedFolderReport, _ place: FolderPlace) throws {
    // With --json, programs read standard error; the terminal shows these lines to the operator.
    if !output.isJSON { for row in report.rows { Output.complain(row) } }
    let terminal = try Terminal(for: "a confirmation", instead: "--yes")
    if output.isJSON { for row in report.rows { try terminal.show(row) } }
    guard
      try terminal.confirm("Accept \(place.path) in its present state?")
    else { throw Failure(.cancelled, "nothing was changed", path: place.path) }
  }
}

/// Copies a sealed folder while it is in use.
struct BackupFilesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Copy the folder, as it is at one moment, to a new folder.",
    discussion: """
      The copy stays sealed and opens with the same keys; keep it apart from them. Its parent folder \
      must exist. If a value's file or entry is missing or can't be read, nothing is copied. With \
      --skip-damaged such values are left out and named, and the exit code is 12. That copy counts as \
      correct from then on, so nothing is copied if verify finds more in the index than damaged \
      entries, such as an old value that was put back. --accept names what is copied all the same.
      """)

  @Argument(help: "The new folder.", completion: .directory) var target: String

  @Flag(
    name: .customLong("skip-damaged"),
    help: "Leave out values that can't be read completely, and name them; opens every file.")
  var skipsDamaged = false

  @OptionGroup var accept: AcceptOptions
  @OptionGroup(title: "Folder") var folder: FolderOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    guard skipsDamaged || accept.kinds.isEmpty else {
      throw ValidationError("--accept needs --skip-damaged: a copy without it is as the folder is")
    }
  }

  func run() throws {
    let folder = try folder.place().open(key, .readOnly)
    let target = try Path.absolute(target)
    if let occupation = Path.occupation(of: target) { throw occupation }
    try Path.requireFolder(of: target, "nothing was copied")
    let backup = try Progress.showing("backup", output.output) { progress in
      try folder.backup(
        to: URL(fileURLWithPath: target, isDirectory: true), leavingOutUnreadable: skipsDamaged,
        accepting: accept.kinds
      ) {
        progress($0, $1 ?? 0)
      }
    }
    var leftOut = LeftOut(unnamed: backup.unnamedCount)
    for left in backup.leftOut {
      leftOut.add(left.name, ExitStatus(left.error.code), left.error.message, output.output)
    }
    try output.output.done(
      "copied to \(target)",
      .object([
        ("path", .string(target)),
        ("leftOut", .array(backup.leftOut.map { .string($0.name) })),
        ("unnamed", .number("\(backup.unnamedCount)")),
        ("accepted", .array(backup.accepted.map(\.json))),
        ("unprovenNames", .array(backup.unprovenNames.map { .string($0) })),
      ]))
    for finding in backup.accepted { output.output.warn(.unsound, "accepted " + finding.row) }
    if !backup.unprovenNames.isEmpty {
      output.output.note(
        "may be older than the last write, or removed since: "
          + backup.unprovenNames.joined(separator: ", "))
    }
    guard let status = leftOut.status else { return }
    throw Failure(
      status,
      "\(Printable.count(leftOut.count, "value")) can't be read and "
        + "\(leftOut.count == 1 ? "is" : "are") not in the copy; \(leftOut.advice)",
      path: target)
  }
}

/// Replaces the contents of a sealed folder with those of a backup.
struct RestoreFilesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Replace the folder's contents with a backup.",
    discussion: """
      Replaces all names, values and key slots with the backup's. The backup must be sound, and the \
      given key must open it. The command asks first if the folder exists, unless --yes is given. If a \
      recovery key opened the backup, the application's own key opens the folder afterwards, too.
      """)

  @Argument(help: "The backup's folder.", completion: .directory) var source: String

  @Flag(name: .customLong("yes"), help: "Don't ask.") var isConfirmed = false

  @OptionGroup(title: "Folder") var folder: FolderOptions
  @OptionGroup(title: "Key of the backup") var key: KeyOptions
  @OptionGroup(title: "New key") var newKey: NewKeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let place = try folder.place()
    let source = try Path.absolute(source)
    let given = try key.choice()
    let sealed = place.folder(try place.index.keySource(key, of: source + "/index.vault"))
    if !isConfirmed, try place.index.isThere() {
      let terminal = try Terminal(for: "a confirmation", instead: "--yes")
      guard try terminal.confirm("Replace everything in \(place.path)?") else {
        throw Failure(.cancelled, "nothing was changed", path: place.path)
      }
    }
    let restoration = try Progress.showing("restore", output.output) { progress in
      try sealed.restore(from: URL(fileURLWithPath: source, isDirectory: true)) {
        progress($0, $1 ?? 0)
      }
    }
    let added = try place.index.admit(
      newKey, afterOpeningWith: given, to: sealed.keyAdministration, output.output)
    try output.output.done(
      "restored \(place.path), \(Printable.count(restoration.recordCount, "value"))",
      .object([
        ("path", .string(place.path)), ("values", .number("\(restoration.recordCount)")),
        ("oldFile", restoration.oldFile.map { .string($0) } ?? .null),
        ("addedSlot", added.map(\.slot.json) ?? .null),
      ]))
    added?.note(output.output)
  }
}

/// Returns the space of removed entries.
struct CompactFilesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact", abstract: "Return the space of entries removed from the index.")

  @OptionGroup(title: "Folder") var folder: FolderOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let place = try folder.place()
    try place.open(key).compact()
    try output.output.done("compacted \(place.path)", .object([("path", .string(place.path))]))
  }
}

extension FolderPlace {
  /// Verifies a folder and shows progress.
  fileprivate static func verify(
    _ folder: SealedFolder, _ output: Output
  ) throws -> SealedFolderReport {
    try Progress.showing("verify", output) { progress in
      try folder.verify { progress($0, $1 ?? 0) }
    }
  }
}

extension SealedFolderReport {
  /// The findings for people.
  fileprivate var rows: [String] {
    index.rows.map { "index: " + $0 }
      + findings.map { finding in
        let subject = finding.name ?? finding.path ?? ""
        let ranges = finding.ranges.map { "\($0.lowerBound)-\($0.upperBound - 1)" }
        let bytes = ranges.isEmpty ? "" : " (bytes \(ranges.joined(separator: ", ")))"
        return Printable.line("\(finding.kind.rawValue): \(subject): \(finding.message)\(bytes)")
      }
  }

  /// The report for programs.
  fileprivate var json: JSONValue {
    .object([
      ("sound", .bool(isSound)), ("values", .number("\(nameCount)")),
      ("files", .number("\(blobCount)")), ("bytes", .number("\(byteCount)")),
      ("oldKey", .number("\(oldBlobCount)")), ("index", index.json()),
      (
        "findings",
        .array(
          findings.map { finding in
            .object([
              ("kind", .string(finding.kind.rawValue)),
              ("name", finding.name.map { .string($0) } ?? .null),
              ("path", finding.path.map { .string($0) } ?? .null),
              (
                "ranges",
                .array(
                  finding.ranges.map { range in
                    .array([.number("\(range.lowerBound)"), .number("\(range.upperBound)")])
                  })
              ),
              ("message", .string(finding.message)),
            ])
          })
      ),
    ])
  }
}
