internal import ArgumentParser
internal import CryptoCore
internal import Foundation
internal import Glibc
internal import LocalData
internal import StorageCore
internal import VaultBackend

/// Lists the keys that an application declares.
struct ListLocalDataCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the keys that an application declares, in order.",
    discussion: "audit says which of them have a value.")

  @OptionGroup(title: "Application") var options: CatalogOptions

  @Option(
    name: .customLong("match"),
    help: ArgumentHelp("List only the names of a pattern, as in glob(7).", valueName: "pattern"))
  var pattern: String?

  @Flag(
    name: [.customLong("long"), .customShort("l")],
    help: "Also show types, domains and descriptions.")
  var isLong = false

  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let keys = try options.read().file.keys.filter { ListCommand.matches($0.name, pattern) }
    if output.isJSON {
      let keys = keys.map { key -> JSONValue in
        [
          "name": key.name, "domain": "\(key.domain)", "type": key.valueType,
          "description": key.description,
        ]
      }
      return try output.output.json(["keys": keys])
    }
    let rows = keys.map { key in
      isLong
        ? [
          Printable.line(key.name), Printable.line(key.valueType), "\(key.domain)",
          Printable.line(key.description),
        ] : [Printable.line(key.name)]
    }
    try Output.write(table: rows)
  }
}

/// Writes the value of a declared key to standard output.
struct GetLocalDataCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Write the value of a declared key to standard output.",
    discussion: """
      Text and data are written unchanged, other types as JSON. Exits with 1 if there is no value. A name \
      that the catalog does not declare is refused.
      """)

  @OptionGroup(title: "Application") var options: CatalogOptions

  @Argument(help: "The name of the key, or its domain and name: userDefaults/theme.")
  var name: String

  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Passcode") var passcode: PasscodeOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let catalog = try options.read()
    let declared = try DeclaredKey(name, in: catalog.file)
    let passcode = try passcode.passcode(within: catalog.place.commandTimeout)
    let router = try catalog.router(key, .readOnly, passcode: passcode)
    guard let value = try declared.value(router) else {
      throw Failure(.absent, "the key has no value", key: name)
    }
    if output.isJSON {
      return try output.output.json([
        "name": declared.descriptor.name, "type": declared.descriptor.valueType,
        "value": value.json,
      ])
    }
    try Output.write(secret: value.bytes, isText: value.isText, "value", key: name)
  }
}

/// Stores a value of a declared key.
struct SetLocalDataCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Store a value of a declared key, read from standard input or a prompt.",
    discussion: """
      The value must convert exactly to the type that the catalog declares: a number, true or false, text, \
      or JSON. A type of the application, such as an enumeration, is JSON or text, and must have the form \
      of the stored value: the application decides whether it can read it. A running application sees the \
      change.
      """)

  @OptionGroup(title: "Application") var options: CatalogOptions

  @Argument(help: "The name of the key, or its domain and name: userDefaults/theme.")
  var name: String

  // Declared so that this command reports it: the parser's own message would repeat the value.
  @Argument(help: .hidden) var rest: [String] = []

  @Flag(name: .customLong("allow-empty"), help: "Accept a value of no bytes.")
  var allowsEmpty = false

  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Passcode") var passcode: PasscodeOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws { try SetCommand.requireNoValue(in: rest) }

  func run() throws {
    let catalog = try options.read()
    let declared = try DeclaredKey(name, in: catalog.file)
    let passcode = try passcode.passcode(within: catalog.place.commandTimeout)
    let router = try catalog.router(key, passcode: passcode)
    let old = try declared.value(router)
    let bytes = try SetCommand.read(name)
    guard allowsEmpty || bytes.count > 0 else {
      throw Failure(
        .malformedInput, "the value is empty, and nothing was changed; --allow-empty accepts it",
        key: name)
    }
    let given = GivenValue.bytes(bytes, text: try bytes.withoutLineBreak())
    let value = try declared.converted(given, like: old)
    try declared.save(value, router)
    try output.output.done(
      "stored \(declared.title) as \(declared.descriptor.valueType) "
        + "(\(Printable.count(value.bytes.count, "byte")))",
      [
        "name": declared.descriptor.name, "stored": true, "type": declared.descriptor.valueType,
        "bytes": value.bytes.count,
      ])
  }
}

/// Removes values of declared keys.
struct RemoveLocalDataCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove values of declared keys, one after the other.",
    discussion: """
      A name that the catalog does not declare is refused before anything is removed. Exits with 1 if one \
      of the keys has no value; with --force, absent values are ignored.
      """)

  @OptionGroup(title: "Application") var options: CatalogOptions

  @Argument(help: "The names of the keys, or their domains and names.") var names: [String]

  @Flag(name: [.customLong("force"), .customShort("f")], help: "Ignore absent values.")
  var isForced = false

  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let catalog = try options.read()
    let declared = try names.withoutRepetition.map { try DeclaredKey($0, in: catalog.file) }
    let router = try catalog.router(key)
    var removed: [String] = []
    for key in declared {
      if try key.remove(router) {
        removed.append(key.title)
      } else if !isForced {
        throw Failure(
          .absent,
          "the key has no value"
            + (removed.isEmpty ? "" : "; these were removed: \(removed.joined(separator: ", "))"),
          key: key.title)
      }
    }
    try output.output.done(
      removed.isEmpty ? "nothing to remove" : "removed \(removed.joined(separator: ", "))",
      ["removed": removed])
  }
}
