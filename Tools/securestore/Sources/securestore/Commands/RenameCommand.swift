internal import ArgumentParser
internal import StorageCore

/// Gives a value another name.
struct RenameCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rename", abstract: "Give a value another name, in one step.",
    discussion: """
      The value keeps its type and its bytes. If the new name already has a value, nothing is changed, \
      unless --replace is given. A value that only its application can read can't be renamed.
      """)

  @Argument(help: "The name of the value.", completion: ValueName.completion) var name: String

  @Argument(help: "The new name.") var newName: String

  @Flag(name: .customLong("replace"), help: "Replace an existing value of the new name.")
  var replaces = false

  @OptionGroup(title: "Store") var store: StoreOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    try ValueName.requireNoValue(in: newName)
    guard !name.isExactly(newName) else {
      throw Failure(.usage, "give two different names", key: name)
    }
    let storage = try store.place().values(key)
    try storage.transaction { transaction in
      guard let value = try transaction.exactValue(forKey: name) else {
        throw ValueName.absent(name, in: storage)
      }
      guard try replaces || !transaction.contains(newName) else {
        throw Failure(
          .exists, "this name already has a value, and nothing was changed; --replace replaces it",
          key: newName)
      }
      try transaction.save(value, forKey: newName)
      try transaction.delete(forKey: name)
    }
    try output.output.done(
      "renamed \(name) to \(newName)", ["name": newName, "oldName": name])
  }
}
