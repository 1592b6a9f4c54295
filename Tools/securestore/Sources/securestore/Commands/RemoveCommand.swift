internal import ArgumentParser
internal import StorageCore

/// Removes values.
struct RemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove values, all of them in one step.",
    discussion: """
      If one of the values does not exist, none is removed and the exit code is 1. With --force, \
      absent values are ignored. Only a backup can bring a removed value back.
      """)

  @Argument(help: "The names of the values.", completion: ValueName.completion)
  var names: [String]

  @Flag(name: [.customLong("force"), .customShort("f")], help: "Ignore absent values.")
  var isForced = false

  @OptionGroup(title: "Store") var store: StoreOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let storage = try store.place().values(key)
    let removed = try storage.transaction { transaction in
      var removed: [String] = []
      for name in names.withoutRepetition {
        let isThere = try transaction.contains(name)
        guard isThere || isForced else {
          throw ValueName.absent(name, in: storage)
        }
        // Deleted even if absent: somebody may have hidden its record, to put it back later.
        try transaction.delete(forKey: name)
        if isThere { removed.append(name) }
      }
      return removed
    }
    try output.output.done(
      removed.isEmpty ? "nothing to remove" : "removed \(removed.joined(separator: ", "))",
      ["removed": removed])
  }
}
