internal import ArgumentParser

/// The commands on the data of an application that declares its keys.
struct LocalDataCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "localdata", abstract: "Manage the keys of an application's typed storage.",
    discussion: """
      Typed storage (LocalData) has several stores: vaults, suites, sealed folders, and files. A master \
      key, and a key for each group of programs, seal values in them. audit compares the values with the \
      catalog.
      """,
    subcommands: [
      ListLocalDataCommand.self, GetLocalDataCommand.self, SetLocalDataCommand.self,
      RemoveLocalDataCommand.self, RotateLocalDataCommand.self,
    ])
}
