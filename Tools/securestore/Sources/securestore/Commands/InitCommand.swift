internal import ArgumentParser
internal import CryptoCore
internal import VaultBackend

/// Creates a vault.
struct InitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init", abstract: "Create a new, empty vault or store in etcd.",
    discussion: """
      The terminal asks for a passphrase twice. A key file, or a key in the keyring, is created if \
      none exists. Missing folders are created too, and named.
      """)

  @OptionGroup(title: "Vault") var vault: VaultOptions
  @OptionGroup(title: "etcd") var etcd: EtcdOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  @Option(help: "The cipher that seals the values.") var cipher = VaultCipher.aes256gcm

  func run() throws {
    if let place = try etcd.place(vault) { return try place.initialize(key, output.output) }
    try vault.place().initialize(key, cipher.algorithm, output.output)
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

extension VaultPlace {
  /// Creates the vault, which must not exist, and its key if that does not exist, and says so.
  func initialize(_ key: KeyOptions, _ algorithm: AEADAlgorithm, _ output: Output) throws {
    // Checked first, so that nobody thinks up a passphrase in vain.
    try requireAbsent()
    let keyFile = try NewKeyFile(at: knownKeyFile(key), for: self)
    let storage = storage(try newKeySource(key, output), algorithm: algorithm)
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
      .object(
        [("path", .string(path)), ("slots", .array(slots.map(\.json)))] + keyFile.members(slots)))
    keyFile.note(slots, output)
    output.note(ofPassphrasesIn: slots)
  }
  /// Warns of a vault that is there although the command that made it failed.
  private func warnOfLeftOver(_ output: Output) throws {
    guard try ["", "-wal", "-journal"].contains(where: { try Path.isThere(path + $0) }) else {
      return
    }
    let isIndex = Path.name(of: path) == "index.vault"
    Output.warn(
      Failure(
        .exists,
        "this was created before the command failed, and nothing was stored in it; discard it with "
          + "\(isIndex ? "files reset" : "reset") before you run \(isIndex ? "files init" : "init") again",
        path: path), output.isJSON)
  }
}
