internal import ArgumentParser
internal import CryptoCore

/// The commands on sealed folders.
struct FilesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "files", abstract: "Manage a sealed folder: values of any size.",
    discussion: """
      A sealed folder is a vault, index.vault, and one file for each large value. Manage its keys with \
      slots, passphrase or recovery and --vault FOLDER/index.vault. Values of any size are read and \
      written in parts.
      """,
    subcommands: [
      InitFilesCommand.self, PutFileCommand.self, GetFileCommand.self, ListFilesCommand.self,
      RenameFileCommand.self,
      RemoveFilesCommand.self, ExportFilesCommand.self, VerifyFilesCommand.self,
      RepairFilesCommand.self, BackupFilesCommand.self, RestoreFilesCommand.self,
      ResetFilesCommand.self, RotateFilesCommand.self, CompactFilesCommand.self,
    ])
}

/// Creates a sealed folder.
struct InitFilesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init", abstract: "Create a new, empty sealed folder.",
    discussion: """
      The terminal asks for a passphrase twice. A key file, or a key in the keyring, is created if \
      none exists. Missing folders are created too, and named.
      """)

  /// The ciphers; XAES has no advantage here, since each value has its own key.
  enum Cipher: String, CaseIterable, ExpressibleByArgument {
    case aes256gcm = "aes-256-gcm"
    case chacha20poly1305 = "chacha20-poly1305"

    var algorithm: AEADAlgorithm { self == .aes256gcm ? .aes256GCM : .chaCha20Poly1305 }
  }

  @OptionGroup(title: "Folder") var folder: FolderOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  @Option(help: "The cipher that seals the values.") var cipher = Cipher.aes256gcm

  func run() throws {
    try folder.place().index.initialize(key, cipher.algorithm, output.output)
  }
}
