internal import ArgumentParser
internal import CryptoCore

/// The commands on sealed folders.
struct FilesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "files", abstract: "Manage a sealed folder: values of any size.",
    discussion: """
      A sealed folder is a vault, index.vault, and one file for each large value. Manage its keys with \
      slots, passphrase or recovery and --folder FOLDER. Values of any size are read and \
      written in parts.
      """,
    subcommands: [
      PutFileCommand.self, GetFileCommand.self, ListFilesCommand.self, RenameFileCommand.self,
      RemoveFilesCommand.self, ExportFilesCommand.self,
      // These are the commands for all stores, with --files.
      InitCommand.self, VerifyCommand.self, RepairCommand.self, BackupCommand.self,
      RestoreCommand.self, ResetCommand.self, RotateCommand.self, CompactCommand.self,
    ])
}
