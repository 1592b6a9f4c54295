internal import ArgumentParser
internal import CryptoCore

/// The commands on sealed folders.
struct FilesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "files", abstract: "Look after a sealed folder: values of any size.",
    discussion: """
      A sealed folder is a vault, index.vault, and a file for each large value. What opens it is looked \
      after as that of any vault, with slots, passphrase or recovery and --vault FOLDER/index.vault. \
      Values are read and written in parts, whatever their size.
      """,
    subcommands: [
      InitFilesCommand.self, PutFileCommand.self, GetFileCommand.self, ListFilesCommand.self,
      RenameFileCommand.self,
      RemoveFilesCommand.self, ExportFilesCommand.self, VerifyFilesCommand.self,
      RepairFilesCommand.self, BackupFilesCommand.self, RestoreFilesCommand.self,
      RotateFilesCommand.self, CompactFilesCommand.self,
    ])
}

/// Makes a sealed folder.
struct InitFilesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init", abstract: "Make a new, empty sealed folder.",
    discussion: """
      A passphrase is asked for twice; a key file, or a key in the keyring, is made if there is none. \
      Folders that are not there are made too, and named.
      """)

  /// What seals; an XAES key would be worth nothing here, since each value has a key of its own.
  enum Cipher: String, CaseIterable, ExpressibleByArgument {
    case aes256gcm = "aes-256-gcm"
    case chacha20poly1305 = "chacha20-poly1305"

    var algorithm: AEADAlgorithm { self == .aes256gcm ? .aes256GCM : .chaCha20Poly1305 }
  }

  @OptionGroup(title: "Folder") var folder: FolderOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  @Option(help: "What seals the values of the index.") var cipher = Cipher.aes256gcm

  func run() throws {
    try folder.place().index.initialize(key, cipher.algorithm, output.output)
  }
}
