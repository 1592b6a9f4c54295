internal import ArgumentParser
internal import CryptoCore
internal import Foundation
internal import Glibc
internal import StorageCore

/// The formats of import and export.
enum FileFormat: String, CaseIterable, ExpressibleByArgument {
  case dotenv
  case json

  /// The format by a file's name: JSON for `.json`, else dotenv.
  init(ofFile path: String) { self = path.hasSuffix(".json") ? .json : .dotenv }
}

/// The formats of import.
enum ImportFormat: String, CaseIterable, ExpressibleByArgument {
  case dotenv
  case json
  case yaml

  /// The format by a file's name: JSON for `.json`, YAML for `.yaml` and `.yml`, else dotenv.
  init(ofFile path: String) {
    self =
      path.hasSuffix(".yaml") || path.hasSuffix(".yml")
      ? .yaml : path.hasSuffix(".json") ? .json : .dotenv
  }
}

/// Stores the values of a file.
struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Store all values of a dotenv, JSON or YAML file, in one step.",
    discussion: """
      All values are stored, or none. If a name already has a value, nothing is imported, unless --overwrite \
      or --keep says which one stays. A replaced value keeps its type: text is converted if the conversion is \
      exact, else nothing is imported, unless --type gives another type. Input of no bytes is refused unless \
      --allow-empty is given. The file stays: delete it when you no longer need it.
      """)

  @Argument(help: "The file, or - for standard input.", completion: .file()) var file: String

  @Option(help: "The format. Default: json or yaml for names with that ending, else dotenv.")
  var format: ImportFormat?

  @Flag(
    name: .customLong("nested"),
    help: ArgumentHelp(
      "Store each value of a nested object under its own dotted name: http.server.port.",
      discussion: "SecureConfiguration reads this form. Without it, an object is one value."))
  var isNested = false

  @Flag(name: .customLong("overwrite"), help: "Replace existing values.")
  var overwrites = false

  @Flag(name: .customLong("keep"), help: "Keep existing values.") var keeps = false

  @Flag(name: .customLong("allow-empty"), help: "Accept input of no bytes as no values.")
  var allowsEmpty = false

  @Option(
    name: .customLong("type"),
    help: ArgumentHelp(
      "The type to store, as for set: NAME=TYPE for one value, TYPE for all others, auto for the type "
        + "in the file; may be repeated.", valueName: "name=type"))
  var types: [TypeOfName] = []

  @OptionGroup(title: "Store") var store: StoreOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    guard !(overwrites && keeps) else {
      throw ValidationError("give --overwrite or --keep, not both")
    }
  }

  func run() throws {
    let storage = try store.place().values(key)
    let (entries, laterTexts) = try read()
    let types = try TypeOfName.Table(types, of: entries.map(\.name))
    warn(of: entries, laterTexts, types)
    let (kept, forms) = try Progress.showing("import", output.output) { progress in
      try storage.transaction { transaction in
        var there: [String] = []
        var forms: [(name: String, form: StoredForm)] = []
        var mismatches: [StorageTransaction.Mismatch] = []
        for (index, (name, given)) in entries.enumerated() {
          defer { progress(index + 1, entries.count) }
          if !overwrites, try transaction.contains(name) {
            there.append(name)
            continue
          }
          do {
            let value = try types.value(given, name, transaction)
            try transaction.save(value, forKey: name)
            forms.append((name, try transaction.form(of: name)))
          } catch let mismatch as StorageTransaction.Mismatch {
            mismatches.append(mismatch)
          }
        }
        guard there.isEmpty || keeps else { throw Self.conflict(there) }
        guard mismatches.isEmpty else { throw Self.conflict(mismatches) }
        return (there, forms)
      }
    }
    try output.output.done(
      "imported \(Printable.count(forms.count, "value"))\(Self.types(forms.map(\.form.type)))"
        + (kept.isEmpty ? "" : ", kept \(kept.count) existing"),
      [
        "imported": forms.count, "kept": kept,
        "types": JSONValue.object(forms.map { ($0.name, .string($0.form.type)) }),
      ])
  }

  /// How many values are stored as each type, as in ": 2 as text, 1 as Int".
  private static func types(_ types: [String]) -> String {
    var counts: [(type: String, count: Int)] = []
    for type in types {
      if let index = counts.firstIndex(where: { $0.type == type }) {
        counts[index].count += 1
      } else {
        counts.append((type, 1))
      }
    }
    guard !counts.isEmpty else { return "" }
    return ": "
      + counts.map { "\($0.count) as \(StoredForm.title($0.type))" }.joined(separator: ", ")
  }

  private static func conflict(_ names: [String]) -> Failure {
    Failure(
      .exists,
      "nothing was imported: there is already a value under "
        + names.listed + "; --overwrite replaces existing values, --keep keeps them")
  }

  private static func conflict(_ mismatches: [StorageTransaction.Mismatch]) -> Failure {
    let names = mismatches.map { mismatch in
      "\(mismatch.key) (stored as \(mismatch.stored), but the file has \(mismatch.given) that does not "
        + "convert exactly)"
    }
    return Failure(
      .typeMismatch,
      "nothing was imported: the type of these values would change: \(names.listed)"
        + "; give --type NAME=TYPE to set the new type of a value")
  }

  private typealias Entries = [(name: String, given: GivenValue)]

  /// The values of the file, and the places of texts that YAML 1.1 takes for other values.
  private func read() throws -> (entries: Entries, laterTexts: Set<PlainScalar.Place>) {
    let bytes =
      file == "-"
      ? try SecretInput.all(of: STDIN_FILENO)
      : try SecretInput.file(file, isSecret: false)
    do {
      guard allowsEmpty || bytes.count > 0 else {
        throw Failure(
          .malformedInput, "it is empty, and nothing was imported; --allow-empty accepts it")
      }
      guard bytes.count > 0 else { return ([], []) }
      if let failure = EncodedText.failure(of: bytes.array) { throw failure }
      guard let text = bytes.text else {
        throw Failure(.malformedInput, "it is not UTF-8")
      }
      switch format ?? ImportFormat(ofFile: file) {
      case .dotenv: return (try Dotenv(text).entries.map { ($0.name, .text($0.value)) }, [])
      case .json:
        let json = try JSONReader.value(of: text, names: .ofValues)
        return (try entries(of: .json(json)), [])
      case .yaml:
        var reader = YAMLReader(text)
        let value = try reader.value()
        return (try entries(of: value), reader.laterTexts)
      }
    } catch var failure as Failure {
      failure.path = path
      throw failure
    }
  }

  private var path: String { file == "-" ? "standard input" : file }

  private func entries(of value: FileValue) throws -> Entries {
    guard var members = value.members else {
      throw Failure(.malformedInput, "the file is not an object of names and values")
    }
    if isNested { members = try NestedValues.entries(of: members).map { ($0.name, $0.value) } }
    return try members.map { name, value in
      let given = try value.given()
      switch given {
      case .json(.null): throw Failure(.malformedInput, "null is not a value", key: name)
      case .plain(let scalar):
        if case .success(.null) = scalar.value {
          throw Failure(
            .malformedInput,
            "line \(scalar.place.line): null is not a value; write it in quotes if it is text",
            key: name)
        }
        return (name, .plain(scalar.located(in: path, name)))
      default: return (name, given)
      }
    }
  }

  /// Warns of values that may not be what the file's author means.
  private func warn(
    of entries: Entries, _ laterTexts: Set<PlainScalar.Place>, _ types: TypeOfName.Table
  ) {
    for warning in EncodedText.warnings(of: entries) {
      output.output.warn(.unsupported, "\(path): \(warning)")
    }
    var places = laterTexts
    for (name, given) in entries where types.names(name) {
      if case .plain(let scalar) = given { places.remove(scalar.place) }
    }
    guard !places.isEmpty else { return }
    let lines = Set(places.map(\.line)).sorted()
    output.output.warn(
      .typeMismatch,
      "\(path): read as text, as in YAML 1.2, although YAML 1.1 has a truth value or a number there: line "
        + lines.map { "\($0)" }.listed
        + "; write true or false, or quotes around text, or give --type")
  }
}
