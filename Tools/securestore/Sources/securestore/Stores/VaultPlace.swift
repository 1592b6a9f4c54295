internal import CryptoCore
internal import Foundation
internal import StorageCore
internal import VaultBackend

/// A vault that the operator named, and the sources of its key.
struct VaultPlace {
  /// The absolute path of its file.
  let path: String
  /// Whether the operator named the path; false for the standard place of the application.
  let isNamed: Bool
  let application: String?
  private let authenticationTag: Data?
  let deadline: Duration
  /// How long a program may take that prints a secret; nil for the usual time.
  let commandTimeout: Duration?
  /// Who may write to the vault's folder, besides this user and root.
  let folderTrust: FolderTrust
  /// Whether the desktop may ask the user, to unlock the keyring.
  var mayPrompt = true

  init(
    path: String?, application: String?, authenticationTag: Data?, deadline: Duration,
    commandTimeout: Duration?, folderTrust: FolderTrust = .owner
  ) throws {
    self.folderTrust = folderTrust
    if let application {
      try StandardFolders.validate(application)
      // The key source .automatic requires this.
      SecureStorage.bootstrap(applicationID: application, keySource: .automatic)
    }
    isNamed = path != nil
    self.path =
      try path.map { try Path.absolute($0) }
      ?? VaultStorage.standardPath(applicationID: application ?? "")
    self.application = application
    self.authenticationTag = authenticationTag
    self.deadline = deadline
    self.commandTimeout = commandTimeout
  }

  /// The key source for a new vault: the key option, or else the application's own source.
  func newKeySource(_ options: KeyOptions, _ output: Output) throws -> KeySource {
    if let choice = try options.choice() {
      return try choice.source(for: self, opening: nil, warning: output)
    }
    guard let source = try ownSource else { throw Self.keyIsMissing(path) }
    return source
  }

  /// The key source that opens the vault: the key option, or else the application's own source and
  /// the keys in the keyring that the vault names.
  ///
  /// - Parameters:
  ///   - options: the key options.
  ///   - file: the vault, if it is another file, such as a backup.
  /// - Returns: the source.
  /// - Throws: `Failure` if nothing selects a key; `StorageError` if the vault can't be read.
  func keySource(_ options: KeyOptions, of file: String? = nil) throws -> KeySource {
    let file = file ?? path
    if let choice = try options.choice()?.named(by: knownSlots(of: file)) {
      try require(choice, opens: file)
      return try choice.source(for: self, opening: file)
    }
    let own = try ownChoice(opening: file)
    if application != nil, own == nil { try requireAutomatic(file) }
    // A key's name is no secret, so the vault may supply it. Sources that need no bus come first.
    let keyring = try keyringKeys(of: file)
    if let own, keyring.isEmpty { try require(own, opens: file) }
    let first =
      try own?.source(for: self, opening: file) ?? (application == nil ? nil : .automatic)
    let sources = [first].compactMap(\.self) + keyring
    guard sources.count != 1 else { return sources[0] }
    guard !sources.isEmpty else { try refuse(Self.keyIsMissing(file), opening: file) }
    return .firstAvailable(sources)
  }

  /// The source for a new vault by environment or application; nil if only a path was given.
  private var ownSource: KeySource? {
    get throws {
      if let ownChoice = try ownChoice { return try ownChoice.source(for: self, opening: nil) }
      return application == nil ? nil : .automatic
    }
  }

  /// The key file, the mounted one or the command that the environment names.
  var ownChoice: KeyChoice? {
    get throws {
      try .only(
        of: [
          Environment.value("SECURESTORE_KEY_FILE").map { .file($0) },
          Environment.value("SECURESTORE_MOUNTED_SECRET").map { .mountedSecret($0) },
          Environment.value("SECURESTORE_KEY_COMMAND").map {
            .command(try CommandWords.words(of: $0, "SECURESTORE_KEY_COMMAND"), name: nil)
          },
        ], "of SECURESTORE_KEY_FILE, SECURESTORE_MOUNTED_SECRET and SECURESTORE_KEY_COMMAND")
    }
  }

  /// The key that the environment names, if the vault may open with it.
  ///
  /// If the application's vault has no slot of that name, the variable is ignored: it may be meant
  /// for another vault. For a path alone there is no other key; an error then says what opens the
  /// vault.
  private func ownChoice(opening file: String) throws -> KeyChoice? {
    guard let given = try ownChoice else { return nil }
    let slots = try knownSlots(of: file)
    let ownChoice = try given.named(by: slots)
    guard application != nil, let (kind, name) = ownChoice.recorded else { return ownChoice }
    let isMeant =
      slots.isEmpty || slots.contains { $0.kind == kind && $0.identifier == name }
    return isMeant ? ownChoice : nil
  }

  /// A source that opens the vault without a prompt and without the keyring.
  func silentSource(_ options: KeyOptions) throws -> KeySource {
    if let choice = try options.choice() ?? ownChoice(opening: path) {
      if case .command = choice { throw Self.keyIsMissing(path) }
      return try choice.source(for: self, opening: path)
    }
    guard application != nil else { throw Self.keyIsMissing(path) }
    return .automatic
  }

  /// The key file that opens the vault, which is open: the given one, or else the application's
  /// own; nil if another key opened the vault.
  func keyFile(_ options: KeyOptions) throws -> String? {
    guard let path = try knownKeyFile(options) else { return nil }
    return try isOpened(by: .file(URL(fileURLWithPath: path))) ? path : nil
  }

  /// Whether the source's key opens the vault, in addition to the key that has opened it.
  func isOpened(by source: KeySource) throws -> Bool { try slot(openedBy: source) != nil }

  /// The slot that the source's key opens, in a vault that exists; nil if it opens none.
  func slot(openedBy source: KeySource) throws -> KeySlot? {
    do throws(StorageError) {
      return try storage(source, .readOnly).keyAdministration.ownSlot()
    } catch {
      // A passphrase whose KDF can't run here counts as a wrong one.
      guard [.wrongKey, .keyUnavailable, .unsupported].contains(error.code) else { throw error }
      return nil
    }
  }

  /// The given key file, or else the application's own, whether it exists or not.
  func knownKeyFile(_ options: KeyOptions) throws -> String? {
    if let choice = try options.choice() { return try keyFile(of: choice) }
    return try keyFile(of: Path.isThere(path) ? ownChoice(opening: path) : ownChoice)
  }

  /// The key file of a choice, or the application's own if there is no choice; nil for other
  /// sources.
  func keyFile(of choice: KeyChoice?) throws -> String? {
    switch choice {
    case .file(let path): return try Path.absolute(path)
    case nil, .named(.desktop): break
    default: return nil
    }
    guard let application else { return nil }
    let vault = try VaultStorage.standardPath(applicationID: application)
    return URL(fileURLWithPath: vault).deletingLastPathComponent()
      .appendingPathComponent(Self.ownKeyFile).path
  }

  /// The name of the key file that an application uses by default.
  static let ownKeyFile = "master.key"

  /// The slots of a vault, as far as they can be read; if it is damaged, opening it reports that.
  func knownSlots(of file: String) throws -> [KeySlot] {
    guard try Path.isThere(file) else { return [] }
    do {
      return try slots(of: file)
    } catch let error as StorageError where error.code == .damaged {
      return []
    }
  }

  /// The slots of a vault, or none if it can't be read.
  func readableSlots(of file: String) -> [KeySlot] {
    do { return try knownSlots(of: file) } catch { return [] }
  }

  /// The slots of an existing vault; needs no key.
  func slots(of file: String) throws -> [KeySlot] {
    try storage(.firstAvailable([]), .readOnly, at: file).keyAdministration.slots()
  }

  /// The vault, which must exist.
  ///
  /// The path is checked before any prompt; a command that only uses a vault never creates it.
  func open(
    _ options: KeyOptions, _ access: StoreAccess = .readWrite
  ) throws -> VaultStorage {
    try requireThere()
    return storage(try keySource(options), access)
  }

  /// The vault, whether it exists or not.
  func storage(
    _ source: KeySource, _ access: StoreAccess = .readWrite,
    algorithm: AEADAlgorithm = .aes256GCM, at file: String? = nil
  ) -> VaultStorage {
    VaultStorage(
      at: URL(fileURLWithPath: file ?? path, isDirectory: false), keySource: source, access: access,
      folderTrust: folderTrust, algorithm: algorithm,
      authenticationTag: authenticationTag, deadline: deadline)
  }

  /// Whether the vault exists.
  ///
  /// - Throws: also if the vault is gone but its log still exists.
  func isThere() throws -> Bool {
    if try Path.isThere(path) { return true }
    for rest in ["-wal", "-journal"] where try Path.isThere(path + rest) { _ = try slots(of: path) }
    return false
  }

  /// Refuses a path where nothing exists.
  func requireThere() throws {
    guard try isThere() else {
      throw Failure(
        .unavailable, "there is no vault; check the path, or create one with init",
        path: path)
    }
  }
}
