internal import ArgumentParser
internal import StorageCore
internal import VaultBackend

/// Accepts the present state of a vault that is not sound.
struct RepairCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "repair",
    abstract: "Accept a vault that is not sound, after showing what is wrong.",
    discussion: """
      Copy the file first: afterwards its present state counts as correct. Values that don't open \
      stay until they are set or removed. --drop-unreadable removes them for good, including values \
      whose names are unknown and values sealed with another authentication tag. If the file's \
      structure is broken, a new file is written from the values that its tree still leads to. \
      The command asks first, unless --yes is given. With --yes, what somebody may have done without \
      the keys is accepted only if --accept names it. The command says how many values it keeps, how \
      many are lost, which ones may be older than the last write, and where the old file stays if it \
      is replaced.
      """)

  @Flag(name: .customLong("yes"), help: "Don't ask.") var isConfirmed = false

  @OptionGroup var accept: AcceptOptions

  @Flag(
    name: .customLong("drop-unreadable"),
    help: "Remove for good every value that does not open with this key and authentication tag.")
  var drops = false

  @OptionGroup(title: "Vault") var vault: VaultOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let place = try vault.place()
    let storage = try place.open(key)
    let report = try place.lookingThrough { try storage.verify(output.output) }
    guard !report.isSound || drops && report.otherTagCount > 0 else {
      return try output.output.done(
        "nothing is wrong; nothing was changed",
        Self.answer(
          place, report, values: report.recordCount - report.otherTagCount,
          notOpened: report.otherTagCount, expected: report.recordCount))
    }
    if isConfirmed {
      try accept.requireNamed(report, place.path)
    } else {
      try confirm(report, storage, place)
    }
    let repair = try place.lookingThrough {
      try storage.repair(accepting: report, droppingUnreadable: drops)
    }
    let old = repair.oldFile.map { "; the old file is \($0)" } ?? ""
    try output.output.done(
      "repaired \(place.path): \(repair.text)\(old)",
      Self.answer(
        place, report, values: repair.valueCount, notOpened: repair.unreadableCount,
        dropped: repair.droppedCount, gone: repair.goneCount, unproven: repair.unprovenCount,
        unprovenNames: repair.unprovenKeys,
        expected: repair.expectedCount, oldFile: repair.oldFile))
  }

  private static func answer(
    _ place: VaultPlace, _ report: VaultReport, values: Int, notOpened: Int, dropped: Int = 0,
    gone: Int = 0, unproven: Int = 0, unprovenNames: [String] = [],
    expected: Int?, oldFile: String? = nil
  ) -> JSONValue {
    .object([
      ("path", .string(place.path)), ("accepted", report.json()),
      ("values", .number("\(values)")), ("notOpened", .number("\(notOpened)")),
      ("dropped", .number("\(dropped)")), ("gone", .number("\(gone)")),
      ("unproven", .number("\(unproven)")),
      ("unprovenNames", .array(unprovenNames.map { .string($0) })),
      ("expected", expected.map { .number("\($0)") } ?? .null),
      ("oldFile", oldFile.map { .string($0) } ?? .null),
    ])
  }

  private func confirm(
    _ report: VaultReport, _ storage: VaultStorage, _ place: VaultPlace
  ) throws {
    let preview = try place.lookingThrough {
      try storage.previewRepair(accepting: report, droppingUnreadable: drops)
    }
    var lines = report.rows + ["result: \(preview.text)"]
    if report.findings.contains(where: { $0.kind == .damagedFile }) {
      lines.append("the old file stays beside the new one, as \(place.path).damaged-<number>")
    }
    if preview.droppedCount > 0 {
      lines.append(
        "dropped values are lost for good. A value sealed with another --authentication-tag is dropped, "
          + "too; give that tag to keep the value, or copy the file first")
    }
    // With --json, programs read standard error; the terminal shows these lines to the operator.
    if !output.isJSON { for line in lines { Output.complain(line) } }
    let terminal = try Terminal(for: "a confirmation", instead: "--yes")
    if output.isJSON { for line in lines { try terminal.show(line) } }
    guard
      try terminal.confirm("Accept \(place.path) in its present state?")
    else { throw Failure(.cancelled, "nothing was changed", path: place.path) }
  }
}

extension VaultRepair {
  /// What the vault's manifest does not prove, for people.
  var unprovenText: String {
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
