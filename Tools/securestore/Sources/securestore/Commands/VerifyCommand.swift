internal import ArgumentParser
internal import StorageCore
internal import VaultBackend

/// Looks at everything in a vault.
struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Check that every value opens and none is missing or old.",
    discussion: """
      Exits with 2 when something is not as it should be. What can't be found is the whole file put \
      back as it was. Others may use the vault meanwhile.
      """)

  @Option(
    name: .customLong("expect"),
    help: ArgumentHelp("A value that should be there; may be given often.", valueName: "name"))
  var expected: [String] = []

  @OptionGroup(title: "Vault") var vault: VaultOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let place = try vault.place()
    let storage = try place.open(key, .readOnly)
    let report = try storage.verify(expecting: expected, output.output)
    let missing = try expected.filter { name in
      guard !report.findings.contains(where: { $0.keys.contains(name) }) else { return false }
      return try !storage.contains(name)
    }
    if output.isJSON {
      try output.output.json(report.json(missing))
    } else {
      for row in report.rows { try output.output.line(row) }
      for name in missing { try output.output.line("absent: \(Printable.line(name))") }
    }
    guard report.isSound, missing.isEmpty else {
      throw Failure(
        .unsound,
        report.isSound
          ? "\(missing.count) of the \(Printable.count(expected.count, "value")) to expect "
            + "\(missing.count == 1 ? "is" : "are") absent"
          : "the vault is not sound; restore a backup, or see what repair would do",
        path: place.path)
    }
    output.output.note("\(Printable.count(report.recordCount, "value")), nothing wrong")
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

  /// The report for programs.
  func json(_ missing: [String] = []) -> JSONValue {
    .object([
      ("sound", .bool(isSound)),
      ("generation", .number("\(generation)")),
      ("values", .number("\(recordCount)")),
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
    ])
  }
}
