internal import ArgumentParser
internal import StorageCore
internal import VaultBackend

/// Checks everything in a vault.
struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Check that every value opens and none is missing or old.",
    discussion: """
      Exits with 2 if it finds a problem. It can't detect that the whole file was replaced by an older \
      copy of itself. Values that were sealed with another authentication tag, or that were damaged and \
      accepted by repair, do not open and are counted; an expected value must open. Other programs may \
      use the vault meanwhile.
      """)

  @Option(
    name: .customLong("expect"),
    help: ArgumentHelp("A value that must exist; may be repeated.", valueName: "name"),
    completion: ValueName.completion)
  var expected: [String] = []

  @OptionGroup(title: "Vault") var vault: VaultOptions
  @OptionGroup(title: "etcd") var etcd: EtcdOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    if let place = try etcd.place(vault) {
      return try place.verify(expecting: expected, key, output.output)
    }
    let place = try vault.place()
    let storage = try place.open(key, .readOnly)
    let report = try place.lookingThrough {
      try storage.verify(expecting: expected, output.output)
    }
    var missing: [String] = []
    var closed: [String] = []
    let found = Set(report.findings.flatMap(\.keys).map { Array($0.utf8) })
    for name in expected where !found.contains(Array(name.utf8)) {
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
          ? "\(count) of the \(Printable.count(expected.count, "expected value")) "
            + "\(count == 1 ? "is" : "are") absent or \(count == 1 ? "does" : "do") not open"
          : "the vault is not sound; restore a backup, or run repair, which first shows what it would do",
        path: place.path)
    }
    var note = "\(Printable.count(report.recordCount, "value")), nothing wrong"
    if report.otherTagCount > 0 {
      note += "; \(report.otherTagCount) of them not opened: "
      note += "sealed with another --authentication-tag, set aside by rotate, or accepted by repair"
    }
    output.output.note(note)
    if report.oldKeyCount > 0 { output.output.note(report.oldKeyNote) }
  }
}

extension VaultPlace {
  /// Runs `body`, which checks the whole vault.
  ///
  /// If the vault is too damaged for that, the error says
  /// what to do instead.
  func lookingThrough<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as StorageError where error.code == .damaged && error.number != nil {
      // Errors with a number come from SQLite or OpenSSL, whose messages don't say what to do.
      var failure = Failure(
        .damaged,
        "it can't be checked or repaired: too much of it is damaged, or it is not a vault. Check "
          + "the path; restore replaces it with a backup",
        path: error.path ?? path)
      failure.number = error.number
      throw failure
    }
  }
}

extension VaultStorage {
  /// Verifies the vault and shows progress.
  ///
  func verify(expecting names: [StoreKey] = [], _ output: Output) throws -> VaultReport {
    try Progress.showing("verify", output) { progress in
      try verify(expecting: names, progress: progress)
    }
  }
}

extension VaultReport.Finding {
  /// The finding for people.
  var row: String {
    let names = keys.isEmpty ? "" : ": " + keys.joined(separator: ", ")
    return Printable.line("\(kind.rawValue): \(message)\(names)")
  }

  /// The finding for programs.
  var json: JSONValue {
    .object([
      ("kind", .string(kind.rawValue)), ("count", .number("\(count)")),
      ("keys", .array(keys.map { .string($0) })), ("message", .string(message)),
    ])
  }
}

extension VaultReport {
  /// The findings for people.
  var rows: [String] { findings.map(\.row) }

  /// The note about values that a rotation has not reached yet.
  var oldKeyNote: String {
    "\(Printable.count(oldKeyCount, "value")) \(oldKeyCount == 1 ? "is" : "are") still under a data key "
      + "from before: a rotation was interrupted or is running; rotate --resume finishes it"
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
          findings.map(\.json))
      ),
      ("unproven", .number("\(unprovenCount)")),
      ("unprovenNames", .array(unprovenKeys.map { .string($0) })),
      ("absent", .array(missing.map { .string($0) })),
      ("closed", .array(closed.map { .string($0) })),
    ])
  }
}
