internal import ArgumentParser
internal import StorageCore
internal import VaultBackend

/// Looks at everything in a vault.
struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Check that every value opens and none is missing or old.",
    discussion: """
      Exits with 2 when something is not as it should be. What can't be found is the whole file put \
      back as it was. What was sealed with another authentication tag, or was damaged and accepted by \
      repair, does not open and is counted; one that is expected has to open. Others may use the \
      vault meanwhile.
      """)

  @Option(
    name: .customLong("expect"),
    help: ArgumentHelp("A value that should be there; may be given often.", valueName: "name"),
    completion: ValueName.completion)
  var expected: [String] = []

  @OptionGroup(title: "Vault") var vault: VaultOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let place = try vault.place()
    let storage = try place.open(key, .readOnly)
    let report = try place.lookingThrough {
      try storage.verify(expecting: expected, output.output)
    }
    var missing: [String] = []
    var closed: [String] = []
    for name in expected where !report.findings.contains(where: { $0.keys.contains(name) }) {
      do throws(StorageError) {
        if try storage.summary(forKey: name) == nil { missing.append(name) }
      } catch {
        guard error.code == .damaged else { throw error }
        closed.append(name)
      }
    }
    if output.isJSON {
      try output.output.json(report.json(missing, closed))
    } else {
      for row in report.rows { try output.output.line(row) }
      for name in missing { try output.output.line("absent: \(Printable.line(name))") }
      for name in closed { try output.output.line("does not open: \(Printable.line(name))") }
    }
    guard report.isSound, missing.isEmpty, closed.isEmpty else {
      let count = missing.count + closed.count
      throw Failure(
        .unsound,
        report.isSound
          ? "\(count) of the \(Printable.count(expected.count, "value")) to expect "
            + "\(count == 1 ? "is" : "are") absent or \(count == 1 ? "does" : "do") not open"
          : "the vault is not sound; restore a backup, or see what repair would do",
        path: place.path)
    }
    var note = "\(Printable.count(report.recordCount, "value")), nothing wrong"
    if report.otherTagCount > 0 {
      note += "; \(report.otherTagCount) of them not opened: "
      note += "of another authentication tag, set aside by rotate, or accepted by repair"
    }
    output.output.note(note)
    if report.oldKeyCount > 0 { output.output.note(report.oldKeyNote) }
  }
}

extension VaultPlace {
  /// Runs `body`, which looks through the vault, and says what is left to do where that can't be done:
  /// not to look through it.
  func lookingThrough<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as StorageError where error.code == .damaged && error.number != nil {
      // With a number it is SQLite or OpenSSL that says so, and can't say what is to be done.
      var failure = Failure(
        .damaged,
        "it can't be looked through or repaired: too much of it is damaged, or it is no vault. See "
          + "that the path is right; restore makes it what a backup was",
        path: error.path ?? path)
      failure.number = error.number
      throw failure
    }
  }
}

extension VaultStorage {
  /// Verifies with a sign of life.
  func verify(expecting names: [StoreKey] = [], _ output: Output) throws -> VaultReport {
    try Progress.showing("verify", output) { progress in
      try verify(expecting: names, progress: progress)
    }
  }
}

extension VaultReport {
  /// The findings for people.
  var rows: [String] {
    findings.map { finding in
      let names = finding.keys.isEmpty ? "" : ": " + finding.keys.joined(separator: ", ")
      return Printable.line("\(finding.kind.rawValue): \(finding.message)\(names)")
    }
  }

  /// What is said of values that a rotation has not come to.
  var oldKeyNote: String {
    "\(Printable.count(oldKeyCount, "value")) \(oldKeyCount == 1 ? "is" : "are") still under a data key "
      + "from before: a rotation was interrupted, or is going on; rotate --resume finishes it"
  }

  /// The report for programs.
  func json(_ missing: [String] = [], _ closed: [String] = []) -> JSONValue {
    .object([
      ("sound", .bool(isSound && missing.isEmpty && closed.isEmpty)),
      ("generation", .number("\(generation)")),
      ("values", .number("\(recordCount)")),
      ("notOpened", .number("\(otherTagCount)")), ("oldKey", .number("\(oldKeyCount)")),
      (
        "findings",
        .array(
          findings.map { finding in
            .object([
              ("kind", .string(finding.kind.rawValue)), ("count", .number("\(finding.count)")),
              ("keys", .array(finding.keys.map { .string($0) })),
              ("message", .string(finding.message)),
            ])
          })
      ),
      ("absent", .array(missing.map { .string($0) })),
      ("closed", .array(closed.map { .string($0) })),
    ])
  }
}
