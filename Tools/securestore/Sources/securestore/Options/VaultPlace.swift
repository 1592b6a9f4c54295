internal import CryptoCore
internal import Foundation
internal import StorageCore
internal import VaultBackend

/// A vault that the operator named, and what opens it.
struct VaultPlace {
  /// The absolute path of its file.
  let path: String
  let application: String?
  private let authenticationTag: Data?
  let deadline: Duration

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

  /// What opens the vault: the key option, or else what the application itself would use.
  func keySource(_ options: KeyOptions, isNew: Bool = false) throws -> KeySource {
    if let choice = try options.choice() { return try choice.source(isNew: isNew) }
    if application != nil {
      if !isNew { try requireAutomatic() }
      return .automatic
    }
    if let path = Environment.value("SECURESTORE_KEY_FILE") {
      return try KeyChoice.file(path).source(isNew: isNew)
    }
    throw Failure(
      .usage,
      "say which key opens the vault: --key-file PATH, --passphrase, another key option, or --app "
        + "ID for the application's own; a path alone says nothing about keys", path: path)
  }

  /// Refuses a vault that the application's own sources can't open, and says what to give instead.
  private func requireAutomatic() throws {
    guard Path.isThere(path) else { return }
    let slots = try storage(.firstAvailable([]), .readOnly).keyAdministration.slots()
    guard !slots.isEmpty,
      !slots.contains(where: { $0.kind == "file" || $0.kind.hasPrefix("systemd") })
    else { return }
    throw Failure(
      .keyUnavailable,
      "the vault opens with \(slots.map(\.title).joined(separator: ", ")), so the application's own "
        + "key does not: give \(Self.options(for: slots))", path: path)
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
    algorithm: AEADAlgorithm = .aes256GCM
  ) -> VaultStorage {
    VaultStorage(
      at: URL(fileURLWithPath: path), keySource: source, access: access, algorithm: algorithm,
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
