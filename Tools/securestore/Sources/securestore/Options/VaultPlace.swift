internal import CryptoCore
internal import Foundation
internal import KeyringBackend
internal import StorageCore
internal import VaultBackend

/// A vault that the operator named, and what opens it.
struct VaultPlace {
  /// The absolute path of its file.
  let path: String
  /// Whether it was named, and is not the standard place of the application.
  let isNamed: Bool
  let application: String?
  private let authenticationTag: Data?
  let deadline: Duration
  /// Whether the desktop may ask the user, to unlock the keyring.
  var prompts = KeyringAccess.PromptPolicy.ifInteractive

  init(
    path: String?, application: String?, authenticationTag: Data?, deadline: Duration
  ) throws {
    if let application {
      guard Self.isName(application) else {
        throw Failure(
          .usage, "an application id has 1 to 128 bytes, and no slash or control character")
      }
      // What the key source .automatic asks.
      SecureStorage.bootstrap(applicationID: application, keySource: .automatic)
    }
    isNamed = path != nil
    self.path =
      try path.map { Path.absolute($0) }
      ?? VaultStorage.standardPath(applicationID: application ?? "")
    self.application = application
    self.authenticationTag = authenticationTag
    self.deadline = deadline
  }

  /// The rule of `SecureStorage.bootstrap`, which is checked there only when a storage is used.
  private static func isName(_ id: String) -> Bool {
    !id.isEmpty && id.utf8.count <= 128 && id != "." && id != ".."
      && !id.utf8.contains { $0 < 32 || $0 == 47 }
  }

  /// What a vault that is to be made opens with: the key option, or else what the application itself
  /// would use.
  func newKeySource(_ options: KeyOptions) throws -> KeySource {
    if let choice = try options.choice() { return try choice.source(for: self, opening: nil) }
    guard let source = try ownSource else { throw Self.keyIsMissing(path) }
    return source
  }

  /// What opens the vault: the key option, or else what the application itself would use, and the
  /// keys in the keyring that the vault names.
  ///
  /// - Parameters:
  ///   - options: the key options.
  ///   - file: the vault, where it is another file: a backup.
  /// - Returns: the source.
  /// - Throws: `Failure` when nothing says which key it is; `StorageError` when the vault can't be read.
  func keySource(_ options: KeyOptions, of file: String? = nil) throws -> KeySource {
    let file = file ?? path
    if let choice = try options.choice() {
      try require(choice, opens: file)
      return try choice.source(for: self, opening: file)
    }
    if application != nil { try requireAutomatic(file) }
    // A name is no secret and opens nothing, so it may come from the vault; what needs no bus is first.
    let keyring = try keyringKeys(of: file)
    if let choice = ownChoice, keyring.isEmpty { try require(choice, opens: file) }
    let sources = [try ownSource].compactMap(\.self) + keyring
    guard sources.count != 1 else { return sources[0] }
    guard !sources.isEmpty else { try refuse(Self.keyIsMissing(file), opening: file) }
    return .firstAvailable(sources)
  }

  /// What the application uses, or the environment says; nil for a path alone.
  private var ownSource: KeySource? {
    get throws {
      if application != nil { return .automatic }
      return try ownChoice?.source(for: self, opening: nil)
    }
  }

  /// The key file that the environment names.
  private var ownChoice: KeyChoice? {
    guard application == nil else { return nil }
    return Environment.value("SECURESTORE_KEY_FILE").map { .file($0) }
  }

  /// The key file that opens the vault, which is open: the one that was given, or else the
  /// application's own; nil where that does not open it, since another key did.
  func keyFile(_ options: KeyOptions) throws -> String? {
    guard let path = try knownKeyFile(options) else { return nil }
    do {
      try storage(.file(URL(fileURLWithPath: path)), .readOnly).open()
      return path
    } catch {
      return nil
    }
  }

  private func knownKeyFile(_ options: KeyOptions) throws -> String? {
    if let choice = try options.choice() ?? ownChoice {
      if case .file(let path) = choice { return Path.absolute(path) }
      return nil
    }
    guard let application else { return nil }
    let vault = try VaultStorage.standardPath(applicationID: application)
    return URL(fileURLWithPath: vault).deletingLastPathComponent()
      .appendingPathComponent(Self.ownKeyFile).path
  }

  /// The name of the key file that an application uses when it is not told otherwise.
  private static let ownKeyFile = "master.key"

  private static func keyIsMissing(_ file: String) -> Failure {
    Failure(
      .usage,
      "say which key opens the vault: --key-file PATH, --passphrase, another key option, or --app "
        + "ID for the application's own; a path alone says nothing about keys", path: file)
  }

  /// Ends for want of an option; or since the vault is damaged, which no option would change.
  func refuse(_ failure: Failure, opening file: String?) throws -> Never {
    if let file, Path.isThere(file) { _ = try slots(of: file) }
    throw failure
  }

  /// Refuses a vault that does not open with a key of such a kind and name, before the key is asked
  /// for, and says what to give instead.
  private func require(_ choice: KeyChoice, opens file: String) throws {
    guard let (kind, name) = choice.recorded else { return }
    let slots = try knownSlots(of: file)
    guard !slots.isEmpty, !slots.contains(where: { $0.kind == kind && $0.identifier == name })
    else { return }
    let isRenamed = kind == KeySlot.fileKind && slots.contains { $0.kind == kind }
    let given =
      switch kind {
      // The secret itself may have been typed in the place of its name.
      case KeySlot.environmentKind: "that environment variable"
      case KeySlot.credentialKind: "that \(kind)"
      default: name.isEmpty ? "a \(kind)" : "\(kind) \(name)"
      }
    throw Self.opensOtherwise(
      slots, "and not with \(given)",
      isRenamed ? "; a key file that was renamed has to get its name back" : "", file)
  }

  /// Refuses a vault that the application's own sources can't open, and says what to give instead.
  private func requireAutomatic(_ file: String) throws {
    let slots = try knownSlots(of: file)
    let isKnown = slots.contains {
      ($0.kind == KeySlot.fileKind && $0.identifier == Self.ownKeyFile)
        || ($0.kind == KeySlot.credentialKind && $0.identifier == "securestorage-key")
        || $0.kind == KeySlot.keyringKind
    }
    guard !slots.isEmpty, !isKnown else { return }
    throw Self.opensOtherwise(slots, "so the application's own key does not", "", file)
  }

  private static func opensOtherwise(
    _ slots: [KeySlot], _ what: String, _ advice: String, _ file: String
  ) -> Failure {
    let options = slots.compactMap(\.option)
    return Failure(
      .keyUnavailable,
      "the vault opens with \(slots.map(\.title).joined(separator: ", ")), \(what): give "
        + (options.isEmpty ? "a key option" : options.joined(separator: " or ")) + advice,
      path: file)
  }

  /// What opens a vault as far as that can be read: of one that is damaged, whoever opens it tells.
  func knownSlots(of file: String) throws -> [KeySlot] {
    guard Path.isThere(file) else { return [] }
    do {
      return try slots(of: file)
    } catch let error as StorageError where error.code == .damaged {
      return []
    }
  }

  /// What opens a vault that is there, which needs no key.
  func slots(of file: String? = nil) throws -> [KeySlot] {
    try storage(.firstAvailable([]), .readOnly, at: file).keyAdministration.slots()
  }

  /// The vault, which must be there.
  ///
  /// It is looked for before anything is asked, and never made by a command that only uses it.
  func open(
    _ options: KeyOptions, _ access: VaultAccess = .readWrite
  ) throws -> VaultStorage {
    try requireThere()
    return storage(try keySource(options), access)
  }

  /// The vault, there or not.
  func storage(
    _ source: KeySource, _ access: VaultAccess = .readWrite,
    algorithm: AEADAlgorithm = .aes256GCM, at file: String? = nil
  ) -> VaultStorage {
    VaultStorage(
      at: URL(fileURLWithPath: file ?? path), keySource: source, access: access,
      algorithm: algorithm,
      authenticationTag: authenticationTag, deadline: deadline)
  }

  /// Refuses a path where there is nothing.
  func requireThere() throws {
    guard Path.isThere(path) else {
      throw Failure(
        .unavailable, "there is no vault; see that the path is right, or make one with init",
        path: path)
    }
  }
}
