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

  /// What seals.
  enum Cipher: String, CaseIterable, ExpressibleByArgument {
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

  @OptionGroup(title: "Vault") var vault: VaultOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  @Option(help: "What seals the values.") var cipher = Cipher.aes256gcm

  func run() throws {
    let place = try vault.place()
    // First, so that nobody thinks of a passphrase for nothing.
    try place.requireAbsent()
    let keyFile = try NewKeyFile(at: place.knownKeyFile(key), for: place)
    let storage = place.storage(
      try place.newKeySource(key), algorithm: cipher.algorithm)
    let slots = try keyFile.making(output.output) {
      try place.making {
        try storage.open()
        return try storage.keyAdministration.slots()
      }
    }
    try output.output.done(
      "made \(place.path), which opens with \(slots.map(\.title).joined(separator: ", "))",
      .object(
        [("path", .string(place.path)), ("slots", .array(slots.map(\.json)))]
          + keyFile.members(slots)))
    keyFile.note(slots, output.output)
    output.output.note(ofPassphrasesIn: slots)
  }
}
