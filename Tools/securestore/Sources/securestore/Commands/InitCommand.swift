internal import ArgumentParser
internal import CryptoCore
internal import VaultBackend

/// Creates a vault.
struct InitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init", abstract: "Create a new, empty store.",
    discussion: """
      The terminal asks for a passphrase twice. A key file, or a key in the keyring, is created if \
      none exists. Missing folders are created too, and named.
      """)

  @OptionGroup(title: "Store") var store: StoreOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  @Option(help: "The cipher that seals the values.") var cipher = VaultCipher.aes256gcm

  @Flag(
    name: .customLong("sql"),
    help: "With --postgres: print the SQL that makes the tables, and make nothing.")
  var printsSQL = false

  func run() throws {
    let place = try store.place()
    guard !printsSQL || place is PostgresPlace else {
      throw Failure(.usage, "--sql needs --postgres")
    }
    try place.initialize(self)
  }
}

/// The ciphers that can seal the values of a vault.
enum VaultCipher: String, CaseIterable, ExpressibleByArgument {
  case aes256gcm = "aes-256-gcm"
  case chacha20poly1305 = "chacha20-poly1305"
  case xaes256gcm = "xaes-256-gcm"

  var algorithm: AEADAlgorithm {
    switch self {
    case .aes256gcm: .aes256GCM
    case .chacha20poly1305: .chaCha20Poly1305
    case .xaes256gcm: .xaes256GCM
    }
  }
}

extension FolderPlace {
  func initialize(_ command: InitCommand) throws {
    guard command.cipher != .xaes256gcm else {
      throw Failure(
        .usage, "a sealed folder has no use for this cipher, since each value has its own key")
    }
    try index.requireAbsent()
    try index.make(command)
  }
}

extension VaultPlace {
  /// Creates the vault, which must not exist, and its key if that does not exist, and says so.
  func initialize(_ command: InitCommand) throws {
    // Checked first, so that nobody thinks up a passphrase in vain.
    try requireAbsent()
    guard !isIndex else {
      throw Failure(
        .usage,
        "the index of a sealed folder has this name; give the vault another one, or use files init",
        path: path)
    }
    try make(command)
  }

  fileprivate func make(_ command: InitCommand) throws {
    let output = command.output.output
    let keyFile = try NewKeyFile(at: knownKeyFile(command.key), for: self)
    let storage = storage(
      try newKeySource(command.key, output), algorithm: command.cipher.algorithm)
    let slots = try keyFile.making(output) {
      try making {
        do {
          try storage.open()
          return try storage.keyAdministration.slots()
        } catch {
          try warnOfLeftOver(output)
          throw error
        }
      }
    }
    try output.done(
      "created \(path), which opens with \(slots.map(\.title).joined(separator: ", "))",
      (["path": path, "slots": slots] as JSONValue).with(keyFile.json(slots)))
    keyFile.note(slots, output)
    output.note(ofPassphrasesIn: slots)
  }
  /// Warns of a vault that is there although the command that made it failed.
  private func warnOfLeftOver(_ output: Output) throws {
    guard try ["", "-wal", "-journal"].contains(where: { try Path.isThere(path + $0) }) else {
      return
    }
    Output.warn(
      Failure(
        .exists,
        "this was created before the command failed, and nothing was stored in it; discard it with "
          + "\(isIndex ? "files reset" : "reset") before you run \(isIndex ? "files init" : "init") again",
        path: path), output.isJSON)
  }
}
