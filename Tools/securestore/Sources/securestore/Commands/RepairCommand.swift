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
      from then on as if it had been written so: make a copy of the file before. It asks first, \
      unless --yes is given.
      """)

  @Flag(name: .customLong("yes"), help: "Don't ask.") var isConfirmed = false

  @OptionGroup(title: "Vault") var vault: VaultOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let place = try vault.place()
    let storage = try place.open(key)
    let report = try place.lookingThrough { try storage.verify(output.output) }
    guard !report.isSound else {
      return try output.output.done("nothing is wrong, and nothing was done", report.json())
    }
    if !isConfirmed { try confirm(report, place.path) }
    try place.lookingThrough { try storage.repair(accepting: report) }
    try output.output.done(
      "repaired \(place.path)",
      .object([("path", .string(place.path)), ("accepted", report.json())]))
  }

  private func confirm(_ report: VaultReport, _ path: String) throws {
    for row in report.rows { Output.complain(row) }
    let terminal = try Terminal(for: "a confirmation", instead: "--yes")
    guard
      try terminal.confirm("Take \(path) as it is, as if all of it had been written so?")
    else { throw Failure(.cancelled, "nothing was done", path: path) }
  }
}
