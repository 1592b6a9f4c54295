internal import ArgumentParser

/// The root command, with all subcommands.
struct Securestore: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "securestore",
    abstract: "Manage the secrets in the stores of SecurePropertyStorage.",
    discussion: """
      A vault is one encrypted file. --app ID selects the standard vault of an application and the \
      key that the application uses. --vault PATH selects any file, --suite NAME a suite and \
      --folder PATH a sealed folder; give a key option with it. \
      --etcd and --prefix select a store in etcd, --postgres and --store one in PostgreSQL, which machines share. \
      Values and passphrases are read from the terminal, from standard input or from files, never \
      from arguments. securestore(1) lists the exit codes.
      """,
    version: "0.1.0",
    groupedSubcommands: [
      CommandGroup(
        name: "Values",
        subcommands: [
          SetCommand.self, GetCommand.self, ListCommand.self, RemoveCommand.self,
          RenameCommand.self, EditCommand.self, GenerateCommand.self, ImportCommand.self,
          ExportCommand.self, RunCommand.self,
        ]),
      CommandGroup(
        name: "Vaults",
        subcommands: [
          InitCommand.self, VerifyCommand.self, RepairCommand.self, BackupCommand.self,
          RestoreCommand.self, ResetCommand.self, CompactCommand.self, MigrateCommand.self,
          DoctorCommand.self,
        ]),
      CommandGroup(name: "Sealed folders", subcommands: [FilesCommand.self]),
      CommandGroup(name: "Typed storage", subcommands: [AuditCommand.self, LocalDataCommand.self]),
      CommandGroup(
        name: "Keys",
        subcommands: [
          PassphraseCommand.self, SlotsCommand.self, RotateCommand.self, RecoveryCommand.self,
        ]),
      CommandGroup(name: "The desktop's keyring", subcommands: [KeyringCommand.self]),
    ])
}
