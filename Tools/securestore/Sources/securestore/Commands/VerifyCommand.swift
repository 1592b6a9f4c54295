internal import ArgumentParser
internal import FileBackend
internal import StorageCore
internal import VaultBackend

/// Checks everything in a store.
struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Check that every value opens and none is missing or old.",
    discussion: """
      Exits with 2 if it finds a problem. It can't detect that the whole file was replaced by an older \
      copy of itself. Values that were sealed with another authentication tag, or that were damaged and \
      accepted by repair, do not open and are counted; an expected value must open. In a sealed folder it \
      reads every file. Other programs may use the store meanwhile.
      """)

  @Option(
    name: .customLong("expect"),
    help: ArgumentHelp("A value that must exist; may be repeated.", valueName: "name"),
    completion: ValueName.completion)
  var expected: [String] = []

  @OptionGroup(title: "Store") var store: StoreOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let place = try store.place()
    let found = try place.verify(self)
    if output.isJSON {
      try output.output.json(found.json)
    } else {
      for row in found.rows { try output.output.line(row) }
    }
    if let fault = found.fault { throw Failure(.unsound, fault, path: place.path) }
    for note in found.notes { output.output.note(note) }
  }

  /// The expected values that are absent, and those that do not open.
  ///
  /// - Parameters:
  ///   - found: the names that the findings are about.
  ///   - isThere: whether a value of that name is there; throws if it does not open.
  /// - Returns: their names.
  /// - Throws: an error of `isThere`, unless it is `damaged`.
  fileprivate func expectations(
    besides found: [StoreKey], _ isThere: (StoreKey) throws(StorageError) -> Bool
  ) throws -> (absent: [String], closed: [String]) {
    var (absent, closed): ([String], [String]) = ([], [])
    let found = Set(found.map { Array($0.utf8) })
    for name in expected where !found.contains(Array(name.utf8)) {
      do throws(StorageError) {
        if try !isThere(name) { absent.append(name) }
      } catch {
        guard error.code == .damaged else { throw error }
        closed.append(name)
      }
    }
    return (absent, closed)
  }

  /// What is wrong, if that is only with expected values.
  fileprivate func fault(_ absent: [String], _ closed: [String]) -> String? {
    let count = absent.count + closed.count
    guard count > 0 else { return nil }
    return "\(count) of the \(Printable.count(expected.count, "expected value")) "
      + "\(count == 1 ? "is" : "are") absent or \(count == 1 ? "does" : "do") not open"
  }
}

/// What verify found in a store.
struct Verification {
  /// The findings for people.
  let rows: [String]
  let json: JSONValue
  /// What is wrong, and what to do; nil if nothing is.
  let fault: String?
  /// What to say if nothing is wrong.
  let notes: [String]

  /// The rows about expected values.
  static func rows(absent: [String], closed: [String] = []) -> [String] {
    absent.map { "absent: \(Printable.line($0))" }
      + closed.map { "does not open: \(Printable.line($0))" }
  }
}

extension VaultPlace {
  func verify(_ command: VerifyCommand) throws -> Verification {
    let storage = try open(command.key, .readOnly)
    let report = try lookingThrough {
      try storage.verify(expecting: command.expected, command.output.output)
    }
    let (absent, closed) = try command.expectations(besides: report.findings.flatMap(\.keys)) {
      (name) throws(StorageError) in try storage.summary(forKey: name) != nil
    }
    var note = "\(Printable.count(report.recordCount, "value")), nothing wrong"
    if report.otherTagCount > 0 {
      note += "; \(report.otherTagCount) of them not opened: "
      note += "sealed with another --authentication-tag, set aside by rotate, or accepted by repair"
    }
    return Verification(
      rows: report.rows + Verification.rows(absent: absent, closed: closed),
      json: report.json(absent, closed),
      fault: report.isSound
        ? command.fault(absent, closed)
        : "the vault is not sound; restore a backup, or run repair, which first shows what it would do",
      notes: [note] + (report.oldKeyCount > 0 ? [report.oldKeyNote] : []))
  }

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

extension FolderPlace {
  func verify(_ command: VerifyCommand) throws -> Verification {
    let folder = try open(command.key, .readOnly)
    let report = try Self.verify(folder, expecting: command.expected, command.output.output)
    let found = report.index.findings.flatMap(\.keys) + report.findings.compactMap(\.name)
    let (absent, closed) = try command.expectations(besides: found) {
      (name) throws(StorageError) in try folder.info(named: name) != nil
    }
    let old =
      "\(Printable.count(report.oldBlobCount, "file")) not sealed since the last rotation: a rotation was "
      + "interrupted or is running; files rotate --resume seals it again"
    return Verification(
      rows: report.rows + Verification.rows(absent: absent, closed: closed),
      json: report.json(absent, closed),
      fault: report.isSound
        ? command.fault(absent, closed)
        : "the folder is not sound; restore a backup, or run files repair",
      notes: [
        "\(Printable.count(report.nameCount, "value")), \(Printable.bytes(report.byteCount)), nothing wrong"
      ] + (report.oldBlobCount > 0 || report.index.oldKeyCount > 0 ? [old] : []))
  }
}

extension VaultStorage {
  /// Verifies the vault and shows progress.
  func verify(expecting names: [StoreKey] = [], _ output: Output) throws -> VaultReport {
    try Progress.showing("verify", output) { progress in
      try verify(expecting: names, progress: progress)
    }
  }
}

extension FolderPlace {
  /// Verifies a folder and shows progress.
  static func verify(
    _ folder: SealedFolder, expecting names: [StoreKey] = [], _ output: Output
  ) throws -> SealedFolderReport {
    try Progress.showing("verify", output) { progress in
      try folder.verify(expecting: names) { progress($0, $1 ?? 0) }
    }
  }
}

extension VaultReport.Finding: JSONConvertible {
  /// The finding for people.
  var row: String {
    let names = keys.isEmpty ? "" : ": " + keys.joined(separator: ", ")
    return Printable.line("\(kind.rawValue): \(message)\(names)")
  }

  var json: JSONValue {
    ["kind": kind.rawValue, "count": count, "keys": keys, "message": message]
  }
}

extension VaultReport {
  /// The findings for people.
  var rows: [String] { findings.map(\.row) }

  /// The note about values that a rotation has not reached yet.
  fileprivate var oldKeyNote: String {
    "\(Printable.count(oldKeyCount, "value")) \(oldKeyCount == 1 ? "is" : "are") still under a data key "
      + "from before: a rotation was interrupted or is running; rotate --resume finishes it"
  }

  /// The report for programs.
  func json(_ absent: [String] = [], _ closed: [String] = []) -> JSONValue {
    [
      "sound": isSound && absent.isEmpty && closed.isEmpty, "generation": generation,
      "values": recordCount, "notOpened": otherTagCount, "oldKey": oldKeyCount,
      "findings": findings, "unproven": unprovenCount, "unprovenNames": unprovenKeys,
      "absent": absent, "closed": closed,
    ]
  }
}

extension SealedFolderReport {
  /// The findings for people.
  var rows: [String] {
    index.rows.map { "index: " + $0 }
      + findings.map { finding in
        let subject = finding.name ?? finding.path ?? ""
        let ranges = finding.ranges.map { "\($0.lowerBound)-\($0.upperBound - 1)" }
        let bytes = ranges.isEmpty ? "" : " (bytes \(ranges.joined(separator: ", ")))"
        return Printable.line("\(finding.kind.rawValue): \(subject): \(finding.message)\(bytes)")
      }
  }

  /// The report for programs.
  func json(_ absent: [String] = [], _ closed: [String] = []) -> JSONValue {
    let all = findings.map { finding -> JSONValue in
      [
        "kind": finding.kind.rawValue, "name": finding.name, "path": finding.path,
        "ranges": finding.ranges.map { [$0.lowerBound, $0.upperBound] }, "message": finding.message,
      ]
    }
    return [
      "sound": isSound && absent.isEmpty && closed.isEmpty, "values": nameCount,
      "files": blobCount, "bytes": byteCount, "oldKey": oldBlobCount, "index": index.json(),
      "findings": all, "absent": absent, "closed": closed,
    ]
  }
}
