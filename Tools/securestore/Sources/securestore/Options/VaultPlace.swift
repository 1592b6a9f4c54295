internal import CryptoCore
internal import Foundation
internal import KeyringBackend
internal import StorageCore
internal import VaultBackend

/// A vault that the operator named, and what opens it.
struct VaultPlace {
  /// The absolute path of its file.
  let path: String
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
    guard let source = try ownSource else { throw keyIsMissing }
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
    if let choice = try options.choice() { return try choice.source(for: self, opening: file) }
    if application != nil { try requireAutomatic(file) }
    // A name is no secret and opens nothing, so it may come from the vault; what needs no bus is first.
    let sources = [try ownSource].compactMap(\.self) + (try keyringKeys(of: file))
    guard sources.count != 1 else { return sources[0] }
    guard !sources.isEmpty else { throw keyIsMissing }
    return .firstAvailable(sources)
  }

  /// What the application uses, or the environment says; nil for a path alone.
  private var ownSource: KeySource? {
    get throws {
      if application != nil { return .automatic }
      return try Environment.value("SECURESTORE_KEY_FILE").map {
        try KeyChoice.file($0).source(for: self, opening: nil)
      }
    }
  }

  private var keyIsMissing: Failure {
    Failure(
      .usage,
      "say which key opens the vault: --key-file PATH, --passphrase, another key option, or --app "
        + "ID for the application's own; a path alone says nothing about keys", path: path)
  }

  /// Refuses a vault that the application's own sources can't open, and says what to give instead.
  private func requireAutomatic(_ file: String) throws {
    guard Path.isThere(file) else { return }
    let slots = try slots(of: file)
    let isKnown = slots.contains {
      $0.kind == "file" || $0.kind.hasPrefix("systemd") || $0.kind == KeySlot.keyringKind
    }
    guard !slots.isEmpty, !isKnown else { return }
    throw Failure(
      .keyUnavailable,
      "the vault opens with \(slots.map(\.title).joined(separator: ", ")), so the application's own "
        + "key does not: give \(Self.options(for: slots))", path: file)
  }

  private static func options(for slots: [KeySlot]) -> String {
    var options: [String] = []
    for slot in slots {
      switch slot.kind {
      case "passphrase": options.append("--passphrase")
      case "environment": options.append("--key-env \(slot.identifier)")
      case "recovery key": options.append("--recovery")
      default: continue
      }
    }
    return options.isEmpty ? "a key option" : options.joined(separator: " or ")
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
