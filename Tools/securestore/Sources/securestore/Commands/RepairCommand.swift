internal import ArgumentParser
internal import FileBackend
internal import StorageCore
internal import VaultBackend

/// Accepts the present state of a store that is not sound.
struct RepairCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "repair",
    abstract: "Accept a store that is not sound, after showing what is wrong.",
    discussion: """
      Copy the store first: afterwards its present state counts as correct. Values that don't open stay \
      until they are set or removed; --drop-unreadable removes them for good, those of another \
      authentication tag too. If the file's structure is broken, a new file is written from the values that \
      its tree still leads to, and the old file stays. The command shows what it would keep and lose, and \
      asks first, unless --yes is given. With --yes, what somebody may have done without the keys is accepted \
      only if --accept names it.
      """)

  @Flag(name: .customLong("yes"), help: "Don't ask.") var isConfirmed = false

  @OptionGroup var accept: AcceptOptions

  @Flag(
    name: .customLong("drop-unreadable"),
    help: "Remove for good every value that does not open with this key and authentication tag.")
  var dropsUnreadable = false

  @Flag(
    name: .customLong("drop-unnamed"),
    help: "In a sealed folder: remove for good the files without a name.")
  var dropsUnnamed = false

  @OptionGroup(title: "Store") var store: StoreOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let place = try store.place()
    let repair = try place.repair(self)
    if repair.isNeeded {
      if isConfirmed {
        try accept.requireNamed(repair.report, place.path)
      } else {
        let lines = try repair.lines()
        // With --json, programs read standard error; the terminal shows these lines to the operator.
        if !output.isJSON { for line in lines { Output.complain(line) } }
        try Terminal.requireConsent(
          "Accept \(place.path) in its present state?", place.path,
          showing: output.isJSON ? lines : [])
      }
    }
    let result = try repair.perform()
    try output.output.done(
      repair.isNeeded ? result.text : "nothing is wrong; nothing was changed", result.json)
    for note in result.notes { output.output.note(note) }
  }
}

/// A repair that waits for the operator's consent.
struct Repair {
  /// What was found in the vault or in the folder's index.
  let report: VaultReport
  let isNeeded: Bool
  /// What the operator is shown before the question.
  let lines: () throws -> [String]
  /// Repairs; what is sound stays as it is.
  let perform: () throws -> (text: String, json: JSONValue, notes: [String])
}

extension VaultPlace {
  func repair(_ command: RepairCommand) throws -> Repair {
    guard !command.dropsUnnamed else {
      throw Failure(.usage, "--drop-unnamed is for a sealed folder")
    }
    let storage = try open(command.key)
    let report = try lookingThrough { try storage.verify(command.output.output) }
    let drops = command.dropsUnreadable
    return Repair(
      report: report, isNeeded: !report.isSound || drops && report.otherTagCount > 0,
      lines: { try preview(report, storage, drops) },
      perform: {
        let repair = try lookingThrough {
          try storage.repair(accepting: report, droppingUnreadable: drops)
        }
        let old = repair.oldFile.map { "; the old file is \($0)" } ?? ""
        return (
          "repaired \(path): \(repair.text)\(old)",
          [
            "path": path, "accepted": report.json(), "values": repair.valueCount,
            "notOpened": repair.unreadableCount, "dropped": repair.droppedCount,
            "gone": repair.goneCount, "unproven": repair.unprovenCount,
            "unprovenNames": repair.unprovenKeys, "expected": repair.expectedCount,
            "oldFile": repair.oldFile,
          ], []
        )
      })
  }

  private func preview(
    _ report: VaultReport, _ storage: VaultStorage, _ drops: Bool
  ) throws -> [String] {
    let preview = try lookingThrough {
      try storage.previewRepair(accepting: report, droppingUnreadable: drops)
    }
    var lines = report.rows + ["result: \(preview.text)"]
    if report.findings.contains(where: { $0.kind == .damagedFile }) {
      lines.append("the old file stays beside the new one, as \(path).damaged-<number>")
    }
    if preview.droppedCount > 0 {
      lines.append(
        "dropped values are lost for good. A value sealed with another --authentication-tag is dropped, "
          + "too; give that tag to keep the value, or copy the file first")
    }
    return lines
  }
}

extension FolderPlace {
  func repair(_ command: RepairCommand) throws -> Repair {
    let folder = try open(command.key)
    let report = try Self.verify(folder, command.output.output)
    guard !report.isSound else {
      return Repair(
        report: report.index, isNeeded: false, lines: { [] },
        perform: { ("", ["accepted": report.json()], []) })
    }
    return Repair(
      report: report.index, isNeeded: true, lines: { report.rows },
      perform: {
        let repair = try folder.repair(
          accepting: report, removingUnreadable: command.dropsUnreadable,
          removingUnnamed: command.dropsUnnamed)
        let left = command.dropsUnreadable ? 0 : Set(report.findings.compactMap(\.name)).count
        var notes = repair.removedNames.map { "removed \($0)" }
        if repair.index.unprovenCount > 0 { notes.append(repair.index.unprovenText) }
        return (
          "repaired \(path); removed \(Printable.count(repair.removedNames.count, "name")) and "
            + Printable.count(repair.removedBlobCount, "file")
            + (left == 0
              ? ""
              : "; \(Printable.count(left, "value")) still can't be read; --drop-unreadable removes them"),
          [
            "path": path, "accepted": report.json(), "removed": repair.removedNames,
            "removedFiles": repair.removedBlobCount, "unproven": repair.index.unprovenCount,
            "unprovenNames": repair.index.unprovenKeys, "oldFile": repair.index.oldFile,
          ], notes
        )
      })
  }
}

extension VaultRepair {
  /// What the vault's manifest does not prove, for people.
  fileprivate var unprovenText: String {
    let names = unprovenKeys.isEmpty ? "" : ": " + unprovenKeys.joined(separator: ", ")
    return Printable.line(
      "\(unprovenCount) may be older than the last write, or removed since\(names)")
  }

  /// The result, for people.
  fileprivate var text: String {
    var text = Printable.count(valueCount, "value")
    if let expectedCount { text = "\(valueCount) of \(Printable.count(expectedCount, "value"))" }
    text += " kept"
    if unreadableCount > 0 { text += ", \(unreadableCount) more that can't be read" }
    if setAsideCount > 0 {
      text += " (\(setAsideCount) of them set aside by a rotation that ended their key; "
      text += "rotate --resume --readmit takes them back)"
    }
    if droppedCount > 0 { text += ", \(droppedCount) unreadable dropped" }
    if goneCount > 0 { text += ", \(goneCount) lost" }
    if unprovenCount > 0 { text += "; \(unprovenText)" }
    return text
  }

  /// How many values the manifest counts that are nowhere in the file.
  fileprivate var goneCount: Int {
    max(0, (expectedCount ?? 0) - valueCount - unreadableCount - droppedCount)
  }
}
