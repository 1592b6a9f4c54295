internal import ArgumentParser
internal import CryptoCore
internal import VaultBackend

/// Makes a vault.
struct InitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init", abstract: "Make a new, empty vault.",
    discussion: """
      A passphrase is asked for twice; a key file, or a key in the keyring, is made if there is none. \
      Folders that are not there are made too, and named.
      """)

  @OptionGroup(title: "Vault") var vault: VaultOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  @Option(help: "What seals the values.") var cipher = VaultCipher.aes256gcm

  func run() throws {
    try vault.place().initialize(key, cipher.algorithm, output.output)
  }
}

/// What seals the values of a vault.
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
  /// Makes the vault, which must not be there, with its key where there is none, and says so.
  func initialize(_ key: KeyOptions, _ algorithm: AEADAlgorithm, _ output: Output) throws {
    // First, so that nobody thinks of a passphrase for nothing.
    try requireAbsent()
    let keyFile = try NewKeyFile(at: knownKeyFile(key), for: self)
    let storage = storage(try newKeySource(key, output), algorithm: algorithm)
    let slots = try keyFile.making(output) {
      try making {
        try storage.open()
        return try storage.keyAdministration.slots()
      }
    }
    try output.done(
      "made \(path), which opens with \(slots.map(\.title).joined(separator: ", "))",
      .object(
        [("path", .string(path)), ("slots", .array(slots.map(\.json)))] + keyFile.members(slots)))
    keyFile.note(slots, output)
    output.note(ofPassphrasesIn: slots)
  }
}
