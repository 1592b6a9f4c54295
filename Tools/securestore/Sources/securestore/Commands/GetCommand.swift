internal import ArgumentParser
internal import StorageCore
internal import VaultBackend

/// Writes a value to standard output.
struct GetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Write a value to standard output.",
    discussion: """
      Text and data are written unchanged, other types as text or JSON. On a terminal, a line break \
      follows the value. Exits with 1 if the value does not exist, and names similar values.
      """)

  @Argument(help: "The name of the value.", completion: ValueName.completion) var name: String

  @Flag(name: .customLong("type"), help: "Write the type and the size instead of the value.")
  var asksType = false

  @OptionGroup(title: "Store") var store: StoreOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let storage = try store.place().values(key, .readOnly)
    guard !asksType else { return try writeType(storage) }
    guard let value = try StoredValue(name, in: storage) else {
      throw ValueName.absent(name, in: storage)
    }
    if output.isJSON {
      return try output.output.json(["name": name, "type": value.type, "value": value.json])
    }
    try Output.write(secret: value.bytes, isText: !value.isBinary, "value", key: name)
  }

  /// Writes how the value is stored; the value itself is not decoded.
  private func writeType(_ storage: DelegatedStorage) throws {
    guard let summary = try storage.summary(forKey: name) else {
      throw ValueName.absent(name, in: storage)
    }
    let form = StoredForm(summary)
    guard !output.isJSON else {
      return try output.output.json((["name": name] as JSONValue).with(form.json))
    }
    try output.output.line("\(form.type) (\(Printable.count(summary.byteCount, "byte")))")
  }
}
