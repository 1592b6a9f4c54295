internal import ArgumentParser
internal import Glibc
internal import StorageCore
internal import VaultBackend

/// Lists the names of the values.
struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the names of the values, in order.",
    discussion: """
      With --match, only the names that match the pattern as a whole are listed: --match 'db.*' lists those \
      that begin with db. If names can't be read, because a record is damaged or missing, the others are listed, the \
      number of unreadable names is reported, and the exit code is 12.
      """)

  @Option(
    name: .customLong("match"),
    help: ArgumentHelp("List only the names of a pattern, as in glob(7).", valueName: "pattern"))
  var pattern: String?

  @Flag(name: [.customLong("long"), .customShort("l")], help: "Also show types and sizes.")
  var isLong = false

  @Flag(
    name: [.customLong("null"), .customShort("0")],
    help: "End each name with a zero byte instead of a line break.")
  var endsWithZero = false

  @OptionGroup(title: "Store") var store: StoreOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    guard !(isLong && endsWithZero) else {
      throw ValidationError("give --long or --null, not both")
    }
  }

  func run() throws {
    let place = try store.place()
    let storage = try place.values(key, .readOnly)
    let listing = try storage.listing()
    let names = listing.own.filter { Self.matches($0, pattern) }
      .sortedByBytes
    if output.isJSON {
      try writeJSON(names, listing.unreadable, storage)
    } else if isLong {
      try writeTable(names, storage)
    } else {
      try Output.write(names: names, endingWithZero: endsWithZero)
    }
    guard listing.unreadable == 0 else {
      throw Failure(
        .damaged,
        KeyListing.unreadable(listing.unreadable, "more value")
          + ". repair --drop-unreadable removes them for good",
        path: place.path)
    }
  }

  /// Whether a name matches a pattern as a whole, fnmatch(3); without a pattern, every name does.
  static func matches(_ name: String, _ pattern: String?) -> Bool {
    guard let pattern else { return true }
    return unsafe fnmatch(pattern, name, 0) == 0
  }

  private func writeTable(_ names: [String], _ storage: DelegatedStorage) throws {
    var rows: [[String]] = []
    for name in names {
      guard let summary = try storage.summary(forKey: name) else { continue }  // removed since
      rows.append([
        Printable.line(name), summary.type.description, Printable.bytes(summary.byteCount),
      ])
    }
    try Output.write(table: rows)
  }

  private func writeJSON(_ names: [String], _ unreadable: Int, _ storage: DelegatedStorage) throws {
    var values: [JSONValue] = []
    for name in names {
      guard isLong else {
        values.append(.string(name))
        continue
      }
      guard let summary = try storage.summary(forKey: name) else { continue }
      values.append((["name": name] as JSONValue).with(StoredForm(summary).json))
    }
    try output.output.json(["values": values, "unreadable": unreadable])
  }
}
