internal import CryptoCore
internal import Foundation
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
  /// Who may write to the vault's folder, besides this user and root.
  let folderTrust: FolderTrust
  /// Whether the desktop may ask the user, to unlock the keyring.
  var mayPrompt = true

  init(
    path: String?, application: String?, authenticationTag: Data?, deadline: Duration,
    folderTrust: FolderTrust = .owner
  ) throws {
    self.folderTrust = folderTrust
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
  func newKeySource(_ options: KeyOptions, _ output: Output) throws -> KeySource {
    if let choice = try options.choice() {
      return try choice.source(for: self, opening: nil, warning: output)
    }
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
    let own = try ownChoice(opening: file)
    if application != nil, own == nil { try requireAutomatic(file) }
    // A name is no secret and opens nothing, so it may come from the vault; what needs no bus is first.
    let keyring = try keyringKeys(of: file)
    if let own, keyring.isEmpty { try require(own, opens: file) }
    let first =
      try own?.source(for: self, opening: file) ?? (application == nil ? nil : .automatic)
    let sources = [first].compactMap(\.self) + keyring
    guard sources.count != 1 else { return sources[0] }
    guard !sources.isEmpty else { try refuse(Self.keyIsMissing(file), opening: file) }
    return .firstAvailable(sources)
  }

  /// What the environment says, or the application uses, of a vault that is made; nil for a path alone.
  private var ownSource: KeySource? {
    get throws {
      if let ownChoice = try ownChoice { return try ownChoice.source(for: self, opening: nil) }
      return application == nil ? nil : .automatic
    }
  }

  /// The key file, or the mounted one, that the environment names.
  private var ownChoice: KeyChoice? {
    get throws {
      try .only(
        of: [
          Environment.value("SECURESTORE_KEY_FILE").map { .file($0) },
          Environment.value("SECURESTORE_MOUNTED_SECRET").map { .mountedSecret($0) },
        ], "of SECURESTORE_KEY_FILE and SECURESTORE_MOUNTED_SECRET")
    }
  }

  /// The key file that the environment names, where a vault may open with it.
  ///
  /// An application's vault that opens with none of that name is not meant: the variable may be there for
  /// another one. A path alone has no other key, and whoever looks says what it opens with.
  private func ownChoice(opening file: String) throws -> KeyChoice? {
    let ownChoice = try ownChoice
    guard application != nil, let (kind, name) = ownChoice?.recorded else { return ownChoice }
    let slots = try knownSlots(of: file)
    let isMeant =
      slots.isEmpty || slots.contains { $0.kind == kind && $0.identifier == name }
    return isMeant ? ownChoice : nil
  }

  /// What opens a vault without asking anybody, or the keyring.
  func silentSource(_ options: KeyOptions) throws -> KeySource {
    if let choice = try options.choice() ?? ownChoice(opening: path) {
      return try choice.source(for: self, opening: path)
    }
    guard application != nil else { throw Self.keyIsMissing(path) }
    return .automatic
  }

  /// The key file that opens the vault, which is open: the one that was given, or else the
  /// application's own; nil where that does not open it, since another key did.
  func keyFile(_ options: KeyOptions) throws -> String? {
    guard let path = try knownKeyFile(options) else { return nil }
    return try isOpened(by: .file(URL(fileURLWithPath: path))) ? path : nil
  }

  /// Whether a source's key opens the vault, which does open with another.
  func isOpened(by source: KeySource) throws -> Bool { try slot(openedBy: source) != nil }

  /// The slot that a source's key opens, of a vault that is there; nil where it opens none.
  func slot(openedBy source: KeySource) throws -> KeySlot? {
    do throws(StorageError) {
      return try storage(source, .readOnly).keyAdministration.ownSlot()
    } catch {
      // A passphrase that can't be stretched here is not told from a wrong one.
      guard [.wrongKey, .keyUnavailable, .unsupported].contains(error.code) else { throw error }
      return nil
    }
  }

  /// The key file that was given, or else the application's own, be it there or not.
  func knownKeyFile(_ options: KeyOptions) throws -> String? {
    if let choice = try options.choice() { return try keyFile(of: choice) }
    return try keyFile(of: Path.isThere(path) ? ownChoice(opening: path) : ownChoice)
  }

  /// The key file that a choice may come to, or the application's own for none; nil for other sources.
  func keyFile(of choice: KeyChoice?) throws -> String? {
    switch choice {
    case .file(let path): return Path.absolute(path)
    case nil, .named(.desktop): break
    default: return nil
    }
    guard let application else { return nil }
    let vault = try VaultStorage.standardPath(applicationID: application)
    return URL(fileURLWithPath: vault).deletingLastPathComponent()
      .appendingPathComponent(Self.ownKeyFile).path
  }

  /// The name of the key file that an application uses when it is not told otherwise.
  static let ownKeyFile = "master.key"

  /// What opens a vault as far as that can be read: of one that is damaged, whoever opens it tells.
  func knownSlots(of file: String) throws -> [KeySlot] {
    guard try Path.isThere(file) else { return [] }
    do {
      return try slots(of: file)
    } catch let error as StorageError where error.code == .damaged {
      return []
    }
  }

  /// What opens a vault, of one that can be read: of all others nothing is known.
  func readableSlots(of file: String) -> [KeySlot] {
    do { return try knownSlots(of: file) } catch { return [] }
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
      at: URL(fileURLWithPath: file ?? path, isDirectory: false), keySource: source, access: access,
      folderTrust: folderTrust, algorithm: algorithm,
      authenticationTag: authenticationTag, deadline: deadline)
  }

  /// Whether the vault is there.
  ///
  /// - Throws: also where it is gone, and its log is still there.
  func isThere() throws -> Bool {
    if try Path.isThere(path) { return true }
    for rest in ["-wal", "-journal"] where try Path.isThere(path + rest) { _ = try slots() }
    return false
  }

  /// Refuses a path where there is nothing.
  func requireThere() throws {
    guard try isThere() else {
      throw Failure(
        .unavailable, "there is no vault; see that the path is right, or make one with init",
        path: path)
    }
  }
}
