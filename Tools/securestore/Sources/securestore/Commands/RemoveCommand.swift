internal import ArgumentParser
internal import StorageCore
internal import VaultBackend

/// Removes values.
struct RemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove values, all of them in one step.",
    discussion: """
      When one of them is not there, none is removed and it exits with 1; with --force those that \
      are there are removed. What was removed can be had again only from a backup.
      """)

  @Argument(help: "The names of the values.") var names: [String]

  @Flag(name: [.customLong("force"), .customShort("f")], help: "Take no offence at absent values.")
  var isForced = false

  @OptionGroup(title: "Vault") var vault: VaultOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let storage = try vault.place().open(key)
    let removed = try storage.transaction { transaction in
      var removed: [String] = []
      for name in names.withoutRepetition {
        guard try transaction.contains(name) else {
          guard isForced else { throw Failure(.absent, "there is no such value", key: name) }
          continue
        }
        try transaction.delete(forKey: name)
        removed.append(name)
      }
      return removed
    }
    try output.output.done(
      removed.isEmpty ? "nothing to remove" : "removed \(removed.joined(separator: ", "))",
      .object([("removed", .array(removed.map { .string($0) }))]))
  }
}
