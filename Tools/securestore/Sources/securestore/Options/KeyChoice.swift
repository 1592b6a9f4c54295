internal import CryptoCore
internal import Foundation
internal import StorageCore

/// The key source that the operator asked for.
enum KeyChoice {
  case named(NamedSource)
  case file(String)
  case mountedSecret(String)
  case passphrase
  case passphraseDescriptor(Int32)
  case passphraseFile(String)
  case passphraseCommand([String])
  case environment(String)
  case credential(String)
  case recovery
  case recoveryDescriptor(Int32)
  case recoveryCommand([String])
  /// A command, and the name of its slot; without a name, the vault's slots decide it.
  case command([String], name: String?)

  /// The only choice among the options, or nil if there is none.
  ///
  /// - Throws: `Failure` if there are several: the program would have to guess which one counts.
  static func only(of choices: [KeyChoice?], _ what: String) throws -> KeyChoice? {
    let given = choices.compactMap(\.self)
    guard given.count < 2 else { throw Failure(.usage, "give only one \(what)") }
    return given.first
  }

  /// What a vault records of such a key; nil if the vault or the application decides it.
  var recorded: (kind: String, identifier: String)? {
    switch self {
    case .named(.keyring(let name?)): (KeySlot.keyringKind, name)
    case .named: nil
    case .file(let path), .mountedSecret(let path):
      // The name needs no working folder, which URL asks for a relative path.
      (KeySlot.fileKind, Path.name(of: URL(fileURLWithPath: "/" + path).path))
    case .passphrase, .passphraseDescriptor, .passphraseFile, .passphraseCommand:
      (KeySlot.passphraseKind, "")
    case .command(_, let name): name.map { (KeySlot.commandKind, $0) }
    case .environment(let name): (KeySlot.environmentKind, name)
    case .credential(let name): (KeySlot.credentialKind, name)
    case .recovery, .recoveryDescriptor, .recoveryCommand: (KeySlot.recoveryKind, "")
    }
  }

  /// The choice with the name of the only slot of a command, where no name was given.
  ///
  /// - Throws: `Failure` if several slots are of commands.
  func named(by slots: [KeySlot]) throws -> KeyChoice {
    guard case .command(let words, nil) = self else { return self }
    let names = slots.filter { $0.kind == KeySlot.commandKind }.map(\.identifier)
    guard names.count < 2 else {
      throw Failure(
        .usage,
        "several commands open the store; say whose slot it is, with --key-command-name: "
          + names.map { $0.isEmpty ? "''" : $0 }.joined(separator: ", "))
    }
    return .command(words, name: names.first ?? "")
  }

  /// The key source; asks for its secret now.
  ///
  /// - Parameters:
  ///   - place: the vault that the source is for.
  ///   - file: the file to open, such as a backup; nil for a new key, whose passphrase is asked for
  ///     twice.
  ///   - name: the prompt's word for the passphrase.
  ///   - option: the common start of the options that read a passphrase from elsewhere.
  ///   - output: receives a warning if a new passphrase is easy to guess; nil if it is not new.
  /// - Returns: the source, which holds the secret.
  /// - Throws: `Failure` if there is no terminal to ask on, or nothing to read.
  func source(
    for place: VaultPlace, opening file: String?, _ name: String = "passphrase",
    option: String = "--passphrase", warning output: Output? = nil
  ) throws -> KeySource {
    switch self {
    case .named(let source): return try place.source(source, opening: file)
    case .file(let path):
      return .file(URL(fileURLWithPath: try Path.absolute(path)))
    case .mountedSecret(let path): return .mountedSecret(try Path.absolute(path))
    case .environment(let name): return .environment(name)
    case .credential(let name): return .systemdCredential(name)
    case .command(let words, let name):
      return .command(words, name: name ?? "", timeout: place.commandTimeout)
    case .passphrase:
      let terminal = try Terminal(
        for: "a \(name)", instead: "\(option)-file, \(option)-command or \(option)-fd")
      let passphrase =
        try file == nil
        ? terminal.askNewSecret(name)
        : terminal.askSecret(name.prefix(1).uppercased() + name.dropFirst() + ": ")
      output?.warn(ofTrivial: passphrase)
      return .passphrase(passphrase)
    case .passphraseDescriptor(let number):
      return try Self.passphrase(SecretInput.line(of: number), "descriptor \(number)", output)
    case .passphraseFile(let path):
      return try Self.passphrase(
        SecretInput.file(path, isSecret: true, lineOnly: true), path, output)
    case .passphraseCommand(let words):
      return try Self.passphrase(
        KeyCommand(words, timeout: place.commandTimeout).line(), "what \(words[0]) prints", output)
    case .recovery:
      let terminal = try Terminal(
        for: "a recovery key", instead: "--recovery-command or --recovery-fd")
      return try Self.recovery(terminal.askSecret("Recovery key: "))
    case .recoveryDescriptor(let number):
      let line = try SecretInput.line(of: number)
      guard line.count > 0 else {
        throw Failure(.usage, "there is no recovery key in descriptor \(number)")
      }
      return try Self.recovery(line)
    case .recoveryCommand(let words):
      return try Self.recovery(KeyCommand(words, timeout: place.commandTimeout).line())
    }
  }

  private static func passphrase(
    _ bytes: SecureBytes, _ place: String, _ output: Output?
  ) throws -> KeySource {
    guard bytes.count > 0 else { throw Failure(.usage, "there is no passphrase in \(place)") }
    output?.warn(ofTrivial: bytes)
    return .passphrase(bytes)
  }

  private static func recovery(_ bytes: SecureBytes) throws -> KeySource {
    do throws(StorageError) {
      return .recovery(try RecoveryKey(text: bytes))
    } catch {
      guard error.code == .invalid else { throw error }
      throw Failure(.wrongKey, error.message)
    }
  }
}
