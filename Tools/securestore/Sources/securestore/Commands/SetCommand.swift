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
      false, no, off or 0; a date is as 2026-11-24T05:05:00Z; lists, dictionaries and types as \
      '[Int]' are JSON. A value that is there keeps its type unless --type is given: what is not \
      exactly of that type is refused.
      """)

  @Argument(help: "The name of the value.", completion: ValueName.completion) var name: String

  // Caught here, since the parser's own message would repeat it.
  @Argument(help: .hidden) var rest: [String] = []

  @Option(
    help: ArgumentHelp(
      "What the value is: \(ValueKind.allValueStrings.joined(separator: ", ")), or a type as Swift "
        + "writes it; without it, what is stored, else string.", valueName: "type"))
  var type: ValueKind?

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
    try ValueName.requireNoValue(in: name)
    let storage = try vault.place().openForValues(key)
    let bytes = try read()
    guard allowsEmpty || bytes.count > 0 else { throw empty }
    let text = isRaw ? bytes : try bytes.withoutLineBreak()
    let given = GivenValue.bytes(bytes, text: text)
    let stored = try storage.transaction { transaction in
      do {
        let value = try transaction.newValue(given, forKey: name, as: type)
        let isEmpty = text.count == 0 && value.type == ValueKind.string.name
        guard allowsEmpty || !isEmpty else { throw empty }
        try transaction.save(value, forKey: name)
        return value.type
      } catch let mismatch as StorageTransaction.Mismatch {
        throw Failure(
          .typeMismatch,
          "the value is stored as \(mismatch.stored), and what was given is \(mismatch.given) that is not "
            + "exactly one; nothing was changed. --type says what it is to be from now on",
          key: name)
      }
    }
    try output.output.done(
      "stored \(name)",
      .object([("name", .string(name)), ("stored", .bool(true)), ("type", .string(stored))]))
  }

  private var empty: Failure {
    Failure(
      .malformedInput,
      "the value is empty, and nothing was changed; --allow-empty stores it so", key: name)
  }

  private func read() throws -> SecureBytes {
    if isatty(STDIN_FILENO) == 1 {
      let terminal = try Terminal(for: "a value", instead: "a pipe")
      return try terminal.askSecret("Value of \(name): ")
    }
    return try SecretInput.all(of: STDIN_FILENO)
  }
}
