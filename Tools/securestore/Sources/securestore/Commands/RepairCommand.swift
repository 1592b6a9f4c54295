internal import ArgumentParser
internal import StorageCore
internal import VaultBackend

/// Takes a vault that is not sound as it is.
struct RepairCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "repair",
    abstract: "Take a vault that is not sound as it is, after showing what is wrong.",
    discussion: """
      Values that don't open stay as they are until they are set or removed, and what was found is \
      from then on as if it had been written so: make a copy of the file before. --drop-unreadable \
      removes them for good, also those whose names nobody knows any more, and those that were \
      sealed with another authentication tag. A file whose structure is broken is made anew, without \
      the values that can't be found in it any more, also by searching all of its pages. It asks first, unless --yes is given, and says how many \
      values it keeps, how many are gone, and where the old file stays if it is replaced.
      """)

  @Flag(name: .customLong("yes"), help: "Don't ask.") var isConfirmed = false

  @Flag(
    name: .customLong("drop-unreadable"),
    help: "Remove for good what does not open with this key and authentication tag.")
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
        "nothing is wrong, and nothing was done",
        Self.answer(
          place, report, values: report.recordCount - report.otherTagCount,
          notOpened: report.otherTagCount, expected: report.recordCount))
    }
    if !isConfirmed { try confirm(report, storage, place) }
    let repair = try place.lookingThrough {
      try storage.repair(accepting: report, droppingUnreadable: drops)
    }
    let old = repair.oldFile.map { "; the old file is \($0)" } ?? ""
    try output.output.done(
      "repaired \(place.path): \(repair.text)\(old)",
      Self.answer(
        place, report, values: repair.valueCount, notOpened: repair.unreadableCount,
        dropped: repair.droppedCount, gone: repair.goneCount, walked: repair.walkedCount,
        unproven: repair.unprovenCount, expected: repair.expectedCount, oldFile: repair.oldFile))
  }

  private static func answer(
    _ place: VaultPlace, _ report: VaultReport, values: Int, notOpened: Int, dropped: Int = 0,
    gone: Int = 0, walked: Int = 0, unproven: Int = 0, expected: Int?, oldFile: String? = nil
  ) -> JSONValue {
    .object([
      ("path", .string(place.path)), ("accepted", report.json()),
      ("values", .number("\(values)")), ("notOpened", .number("\(notOpened)")),
      ("dropped", .number("\(dropped)")), ("gone", .number("\(gone)")),
      ("walked", .number("\(walked)")), ("unproven", .number("\(unproven)")),
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
    var lines = report.rows + ["what it comes to: \(preview.text)"]
    if report.findings.contains(where: { $0.kind == .damagedFile }) {
      lines.append("the old file stays beside the new one, as \(place.path).damaged-<number>")
    }
    if preview.droppedCount > 0 {
      lines.append(
        "what is dropped is gone for good, be it damaged or sealed with another authentication tag, "
          + "which --authentication-tag gives: make a copy of the file before")
    }
    // A program reads standard error as JSON; whoever sits before the terminal reads this.
    if !output.isJSON { for line in lines { Output.complain(line) } }
    let terminal = try Terminal(for: "a confirmation", instead: "--yes")
    if output.isJSON { for line in lines { try terminal.show(line) } }
    guard
      try terminal.confirm("Take \(place.path) as it is, as if all of it had been written so?")
    else { throw Failure(.cancelled, "nothing was done", path: place.path) }
  }
}

extension VaultRepair {
  /// What is left, for people.
  fileprivate var text: String {
    var text = Printable.count(valueCount, "value")
    if let expectedCount { text = "\(valueCount) of \(Printable.count(expectedCount, "value"))" }
    text += " kept"
    if walkedCount > 0 { text += ", \(walkedCount) of them found on pages that nothing leads to" }
    if unprovenCount > 0 {
      text += " (\(unprovenCount) may be older than what was written last, or removed since)"
    }
    if unreadableCount > 0 { text += ", \(unreadableCount) more that can't be read" }
    if setAsideCount > 0 {
      text += " (\(setAsideCount) of them set aside: a rotation was to end their key; "
      text += "rotate --resume --readmit takes them back)"
    }
    if droppedCount > 0 { text += ", \(droppedCount) dropped that can't be read" }
    if goneCount > 0 { text += ", \(goneCount) gone" }
    return text
  }

  /// How many the manifest tells of that are nowhere in the file.
  fileprivate var goneCount: Int {
    max(0, (expectedCount ?? 0) - valueCount - unreadableCount - droppedCount)
  }
}
