internal import ArgumentParser
internal import CryptoCore
internal import Foundation
internal import Glibc
internal import StorageCore
internal import VaultBackend

/// Stores a value.
struct SetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Store a value, read from standard input or a prompt.",
    discussion: """
      On a terminal the value is one line, which is not shown. From a pipe or a file it is \
      everything up to the end; of text one line break at the end is left out, unless --raw is given. \
      A value of no bytes is refused, unless --allow-empty is given. A bool is true, yes, on or 1, or \
      false, no, off or 0.
      """)

  @Argument(help: "The name of the value.") var name: String

  // Caught here, since the parser's own message would repeat it.
  @Argument(help: .hidden) var rest: [String] = []

  @Option(help: "What the value is.") var type = ValueKind.string

  @Flag(name: .customLong("raw"), help: "Keep the line break at the end of text.")
  var isRaw = false

  @Flag(name: .customLong("allow-empty"), help: "Store a value of no bytes, if it is one.")
  var allowsEmpty = false

  @OptionGroup(title: "Vault") var vault: VaultOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    guard rest.isEmpty else {
      throw ValidationError(
        "a value is never an argument, where every program can see it; leave it out to be asked, or "
          + "send it through a pipe")
    }
  }

  func run() throws {
    let storage = try vault.place().open(key)
    let bytes = try read()
    guard allowsEmpty || bytes.count > 0 else {
      throw Failure(
        .malformedInput,
        "the value is empty, and nothing was changed; --allow-empty stores it so", key: name)
    }
    switch try type.value(of: bytes, name) {
    case let value as JSONValue: try storage.save(value, forKey: name)
    case let value as String: try storage.save(value, forKey: name)
    case let value as Data: try storage.save(value, forKey: name)
    case let value as Int: try storage.save(value, forKey: name)
    case let value as Double: try storage.save(value, forKey: name)
    case let value as Bool: try storage.save(value, forKey: name)
    default: throw Failure(.software, "a value of an unknown type")
    }
    try output.output.done(
      "stored \(name)", .object([("name", .string(name)), ("stored", .bool(true))]))
  }

  private func read() throws -> SecureBytes {
    if isatty(STDIN_FILENO) == 1 {
      let terminal = try Terminal(for: "a value", instead: "a pipe")
      return try terminal.askSecret("Value of \(name): ")
    }
    let bytes = try SecretInput.all(of: STDIN_FILENO)
    return type == .string && !isRaw ? try bytes.withoutLineBreak() : bytes
  }
}
