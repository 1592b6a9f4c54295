internal import ArgumentParser
internal import StorageCore
internal import VaultBackend

/// Writes a value to standard output.
struct GetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Write a value to standard output.",
    discussion: """
      Text and data are written unchanged, other types as text or JSON. On a terminal, a line break \
      follows the value. Exits with 1 if the value does not exist.
      """)

  @Argument(help: "The name of the value.", completion: ValueName.completion) var name: String

  @OptionGroup(title: "Vault") var vault: VaultOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let storage = try vault.place().open(key, .readOnly)
    guard let value = try StoredValue(name, in: storage) else {
      throw ValueName.absent(name)
    }
    if output.isJSON {
      return try output.output.json(
        .object([
          ("name", .string(name)), ("type", .string(value.type)), ("value", value.json),
        ]))
    }
    guard Output.isTerminal else { return try Output.write(value.bytes) }
    guard !value.isBinary else {
      throw Failure(
        .usage, "the value is data, not text; send it to a file or a pipe, or use --json",
        key: name)
    }
    try Output.write(value.bytes + [UInt8(ascii: "\n")])
  }
}
