internal import ArgumentParser
internal import CryptoCore
internal import Foundation
internal import Glibc
internal import StorageCore

/// Stores a value.
struct SetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Store a value, read from standard input or a prompt.",
    discussion: """
      On a terminal the value is one line, which is not shown. From a pipe or a file it is all of the \
      input; one line break at the end of text is removed, unless --raw is given. A value of no bytes is \
      refused unless --allow-empty is given. A bool is true, yes, on or 1, or false, no, off or 0; a \
      date looks like 2026-11-24T05:05:00Z; lists, dictionaries and types such as '[Int]' are JSON. A new \
      value is text. An existing one keeps its type, unless --type is given: other input is refused.
      """)

  @Argument(help: "The name of the value.", completion: ValueName.completion) var name: String

  // Declared so that this command reports it: the parser's own message would repeat the value.
  @Argument(help: .hidden) var rest: [String] = []

  @Option(
    help: ArgumentHelp(
      "The type: \(ValueKind.allValueStrings.joined(separator: ", ")), or a type as Swift writes it. "
        + "Default: the type of the existing value, else string.", valueName: "type"))
  var type: ValueKind?

  @Flag(name: .customLong("raw"), help: "Keep the line break at the end of text.")
  var isRaw = false

  @Flag(name: .customLong("allow-empty"), help: "Accept a value of no bytes.")
  var allowsEmpty = false

  @Flag(name: .customLong("existing"), help: "Refuse a name that has no value yet.")
  var mustExist = false

  @OptionGroup(title: "Store") var store: StoreOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws { try Self.requireNoValue(in: rest) }

  /// Refuses arguments behind the name: the user meant to give the value.
  static func requireNoValue(in rest: [String]) throws {
    guard rest.isEmpty else {
      throw ValidationError(
        "a value is never an argument, since every program can see arguments; leave it out and type it at the "
          + "prompt, or send it through a pipe")
    }
  }

  func run() throws {
    try ValueName.requireNoValue(in: name)
    let storage = try store.place().values(key)
    let bytes = try Self.read(name)
    guard allowsEmpty || bytes.count > 0 else { throw empty }
    let text = isRaw ? bytes : try bytes.withoutLineBreak()
    let given = GivenValue.bytes(bytes, text: text)
    let stored = try storage.transaction { transaction in
      guard try !mustExist || transaction.contains(name) else {
        throw ValueName.absent(name, in: storage)
      }
      do {
        let value = try transaction.newValue(given, forKey: name, as: type)
        let isEmpty = text.count == 0 && value.type == ValueKind.string.name
        guard allowsEmpty || !isEmpty else { throw empty }
        try transaction.save(value, forKey: name)
        return try transaction.form(of: name)
      } catch let mismatch as StorageTransaction.Mismatch {
        throw Failure(
          .typeMismatch,
          "the value is stored as \(mismatch.stored), and the input is \(mismatch.given) that does not "
            + "convert exactly to \(mismatch.stored); nothing was changed. Give --type to set a new type",
          key: name)
      }
    }
    try output.output.done(
      "stored \(name) \(stored)",
      (["name": name, "stored": true] as JSONValue).with(stored.json))
  }

  private var empty: Failure {
    Failure(
      .malformedInput,
      "the value is empty, and nothing was changed; --allow-empty accepts it", key: name)
  }

  /// The value from the prompt, or all of standard input.
  static func read(_ name: String) throws -> SecureBytes {
    if isatty(STDIN_FILENO) == 1 {
      let terminal = try Terminal(for: "a value", instead: "a pipe")
      return try terminal.askSecret("Value of \(name): ")
    }
    return try SecretInput.all(of: STDIN_FILENO)
  }
}
