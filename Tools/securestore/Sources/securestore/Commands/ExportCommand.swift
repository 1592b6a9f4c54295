internal import ArgumentParser
internal import Glibc
internal import StorageCore
internal import VaultBackend

/// Writes all values, unsealed, to a file or to standard output.
struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write all values, unsealed, to a new file or standard output.",
    discussion: """
      --to FILE creates a new file that only its owner can read; --stdout writes to standard output. JSON \
      holds every type. dotenv holds text and what programs read from text: numbers, truth values, URLs and \
      UUIDs; a name that controls programs, such as PATH, is exported to it only if you name it.
      """)

  @Option(name: .customLong("to"), help: "The new file.", completion: .file()) var file: String?

  @Flag(name: .customLong("stdout"), help: "Write to standard output.") var toStandardOutput = false

  @Option(help: "The format. Default: json for a name that ends in .json, else dotenv.")
  var format: FileFormat?

  @Flag(help: "Leave out values that can't be read or don't fit the format, and say so.")
  var skip = false

  @Argument(
    help: "Export only these values (default: all).", completion: ValueName.completion)
  var names: [String] = []

  @OptionGroup(title: "Store") var store: StoreOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    guard file == nil || !toStandardOutput else {
      throw ValidationError("give --to or --stdout, not both")
    }
    guard file != nil || toStandardOutput else {
      throw ValidationError("say where the unsealed values go: --to FILE or --stdout")
    }
    guard !(toStandardOutput && output.isJSON && format == .dotenv) else {
      throw ValidationError("with --json, standard output gets JSON: remove --format dotenv")
    }
  }

  func run() throws {
    let place = try store.place()
    if let file { try Path.requireName(file, instead: "; use --stdout for standard output") }
    if let file { try Path.requireFolder(of: Path.absolute(file), "nothing was exported") }
    let storage = try place.values(key, .readOnly)
    var text = ""
    var skipped: [(name: String, reason: ExitStatus)] = []
    var exported = 0
    let answer = toStandardOutput && output.isJSON ? FileFormat.json : nil
    let format = format ?? answer ?? FileFormat(ofFile: file ?? "")
    let (names, unreadable) = try wanted(in: storage, place.path)
    var members: [(String, JSONValue)] = []
    let sorted = names.sortedByBytes
    try Progress.showing("export", output.output) { progress in
      for (index, name) in sorted.enumerated() {
        defer { progress(index + 1, sorted.count) }
        do {
          guard let value = try StoredValue(name, in: storage) else {
            guard !self.names.isEmpty else { continue }  // removed after the listing
            throw ValueName.absent(name, in: storage)
          }
          switch format {
          case .json: members.append((name, value.exactJSON))
          case .dotenv: text += try Self.line(name, value, isNamed: !self.names.isEmpty)
          }
          exported += 1
        } catch {
          guard skip, let reason = Self.unsuited(error) else { throw error }
          skipped.append((name, reason))
        }
      }
    }
    if format == .json { text = Self.file(members) }
    try write(text)
    for reason in ExitStatus.allCases {
      let names = skipped.filter { $0.reason == reason }.map(\.name)
      guard !names.isEmpty else { continue }
      output.output.warn(reason, "left out: \(names.joined(separator: ", "))")
    }
    if unreadable > 0 {
      output.output.warn(.damaged, "left out: " + KeyListing.unreadable(unreadable))
    }
    guard let file else { return }
    let path = try Path.absolute(file)
    try output.output.done(
      "exported \(Printable.count(exported, "value")) to \(file), unsealed",
      [
        "path": path, "exported": exported, "skipped": skipped.map(\.name),
        "unreadable": unreadable,
      ])
  }

  /// The names to export, and the number of values whose name can't be read.
  private func wanted(
    in storage: DelegatedStorage, _ path: String
  ) throws -> (names: [String], unreadable: Int) {
    guard names.isEmpty else { return (names.withoutRepetition, 0) }
    let listing = try storage.listing()
    guard listing.unreadable == 0 || skip else {
      throw Failure(
        .damaged,
        "nothing was exported: " + KeyListing.unreadable(listing.unreadable)
          + ", or give --skip to export the others", path: path)
    }
    return (listing.own, listing.unreadable)
  }

  /// The JSON file, one member a line, so that people can read and compare it.
  private static func file(_ members: [(String, JSONValue)]) -> String {
    guard !members.isEmpty else { return "{}\n" }
    let lines = members.map { "  \(JSONValue.string($0).text): \($1.text)" }
    return "{\n" + lines.joined(separator: ",\n") + "\n}\n"
  }

  private static func line(
    _ name: String, _ value: StoredValue, isNamed: Bool
  ) throws -> String {
    guard Dotenv.isName(name) else {
      throw Failure(
        .unsupported, "a dotenv file can't hold this name; use --format json, or --skip",
        key: name)
    }
    if !isNamed, let reader = SteeringVariables.reader(of: name) {
      throw Failure(
        .unsupported,
        "a shell that reads the file would set this variable, which controls \(reader); name the values "
          + "to export, use --format json, or --skip", key: name)
    }
    guard let text = value.exactText else {
      throw Failure(
        .unsupported,
        "a dotenv file can't hold this \(value.type); use --format json, or --skip", key: name)
    }
    guard let line = Dotenv.line(name, text) else {
      throw Failure(
        .unsupported, "a dotenv file can't hold a zero byte; use --format json, or --skip",
        key: name)
    }
    return line
  }

  /// Why a value alone can't be exported; nil for an error of the whole store.
  private static func unsuited(_ error: any Error) -> ExitStatus? {
    switch error {
    case let error as StorageError
    where [.typeMismatch, .unsupported, .damaged].contains(error.code):
      ExitStatus(error.code)
    case let failure as Failure where failure.status == .unsupported: .unsupported
    default: nil
    }
  }

  private func write(_ text: String) throws {
    guard let file = try file.map({ try Path.absolute($0) }) else { return try Output.write(text) }
    try FileCopy.make(file) { try Output.write(Array(text.utf8), to: $0, path: file) }
  }
}
