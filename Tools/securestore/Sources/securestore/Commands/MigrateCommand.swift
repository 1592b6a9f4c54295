internal import ArgumentParser
internal import DefaultsBackend
internal import Foundation
internal import StorageCore
internal import VaultBackend

/// Moves the values of another store into a vault.
struct MigrateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Move all values of another store into the vault.",
    discussion: """
      Each value is copied, read back, and only then removed from the other store; --keep leaves it \
      there. If the command is interrupted, run it again. If the vault has a different value under the \
      same name, both stay, unless --overwrite is given.
      """)

  @Option(
    help: ArgumentHelp("The name of a suite of sealed UserDefaults.", valueName: "name"))
  var fromSuite: String?

  @Option(help: ArgumentHelp("Another vault.", valueName: "path"), completion: .file())
  var fromVault: String?

  @Option(
    help: ArgumentHelp(
      "Another application's standard vault, opened with the key file beside it.", valueName: "id"))
  var fromApp: String?

  @Option(
    help: ArgumentHelp(
      "An application's sealed values in the desktop's keyring, opened with the key that they name.",
      valueName: "id"))
  var fromKeychain: String?

  @Option(
    help: ArgumentHelp(
      "Move the values of a store that machines share into this vault, instead of into the store.",
      valueName: "path"), completion: .file())
  var toVault: String?

  @Option(
    help: ArgumentHelp(
      "The key file of that vault; default: the key of that store.", valueName: "path"),
    completion: .file())
  var toKeyFile: String?

  @Option(
    help: ArgumentHelp(
      "The program that prints the key of that vault, and its arguments, in one text.",
      valueName: "command"))
  var toKeyCommand: String?

  @Option(
    help: ArgumentHelp(
      "The key file of the other store; default: the vault's own key.",
      valueName: "path"), completion: .file())
  var fromKeyFile: String?

  @Flag(
    name: .customLong("from-passphrase"), help: "Ask for the other store's passphrase.")
  var asksOldPassphrase = false

  @Option(
    name: .customLong("from-passphrase-fd"),
    help: ArgumentHelp("Read the other store's passphrase from a descriptor.", valueName: "number"))
  var oldPassphraseDescriptor: Int32?

  @Option(
    name: .customLong("from-passphrase-file"),
    help: "Read the other store's passphrase from the first line of a file.", completion: .file())
  var oldPassphraseFile: String?

  @Option(
    help: ArgumentHelp(
      "Read the other store's passphrase from the first line that a program prints.",
      valueName: "command"))
  var fromPassphraseCommand: String?

  @Option(
    help: ArgumentHelp(
      "The program that prints the other store's key, and its arguments, in one text.",
      valueName: "command"))
  var fromKeyCommand: String?

  @Flag(name: .customLong("keep"), help: "Also leave the values in the other store.")
  var keeps = false

  @Flag(name: .customLong("overwrite"), help: "Replace different values in the vault.")
  var overwrites = false

  @OptionGroup(title: "Store") var store: StoreOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    let places = [fromSuite, fromVault, fromApp, fromKeychain].compactMap(\.self)
    guard toVault != nil || toKeyFile == nil && toKeyCommand == nil else {
      throw ValidationError("--to-key-file and --to-key-command need --to-vault")
    }
    if toVault != nil {
      guard places.isEmpty, store.endpoints != nil || store.postgres != nil else {
        throw ValidationError(
          "--to-vault takes the values of a store that --etcd or --postgres names; it goes with no "
            + "--from- option")
      }
      return
    }
    guard places.count < 2 else {
      throw ValidationError("give only one --from- option that says where the values are")
    }
    guard places.count == 1 else {
      throw ValidationError(
        "say where the values are: --from-suite NAME, --from-vault PATH, --from-app ID or "
          + "--from-keychain ID")
    }
  }

  func run() throws { try store.place().migrate(self) }

  fileprivate func migrate(to place: VaultPlace) throws {
    try VaultPlace.requireNoIndex(place.path)
    try place.requireThere()
    let old = try oldPlace()
    let keychain = try keychain(place)
    let source = try place.keySource(key)
    let oldChoice = try oldChoice()
    let destination = place.storage(source)
    try destination.open()
    let choice = try oldSource(oldChoice, of: old.path, for: place) {
      try keychain?.slots ?? Self.slots(old.path, fromSuite, place)
    }
    let oldSource =
      try choice
      ?? .firstAvailable(
        [old.key ?? source] + (fromSuite == nil ? place.keyringKeys(of: old.path) : []))
    do {
      let report =
        if let keychain {
          try migrate(
            keychain.place.storage(keychain.slots, choice: choice, otherwise: source),
            to: destination)
        } else if let fromSuite {
          try migrate(
            UserDefaultsStorage(suiteName: fromSuite, keySource: oldSource), to: destination)
        } else {
          try migrate(
            VaultStorage(
              at: URL(fileURLWithPath: old.path, isDirectory: false), keySource: oldSource,
              access: keeps ? .readOnly : .readWrite), to: destination)
        }
      try answer(report)
    } catch let error as StorageError
      where oldChoice == nil && [.wrongKey, .keyUnavailable].contains(error.code)
    {
      // The vault opened, so this error is about the other store.
      throw Failure(
        ExitStatus(error.code),
        "\(error.message); give the other store's key with --from-key-file, --from-key-command or "
          + "--from-passphrase, --from-passphrase-file, --from-passphrase-command, --from-passphrase-fd",
        path: error.path ?? (keychain == nil ? old.path : nil))
    }
  }

  /// The key of the other store; nil if no option gives it.
  private func oldChoice() throws -> KeyChoice? {
    try .only(
      of: [
        fromKeyFile.map { .file($0) }, asksOldPassphrase ? .passphrase : nil,
        oldPassphraseDescriptor.map { .passphraseDescriptor($0) },
        oldPassphraseFile.map { .passphraseFile($0) },
        fromPassphraseCommand.map {
          .passphraseCommand(try CommandWords.words(of: $0, "--from-passphrase-command"))
        },
        fromKeyCommand.map {
          .command(try CommandWords.words(of: $0, "--from-key-command"), name: nil)
        },
      ], "option for the other store's key")
  }

  /// The source of a choice for the other store.
  private func oldSource(
    _ choice: KeyChoice?, of path: String, for place: VaultPlace, slots: () throws -> [KeySlot]
  ) throws -> KeySource? {
    try choice?.named(by: fromKeyCommand == nil ? [] : slots()).source(
      for: place, opening: path, "passphrase of the other store", option: "--from-passphrase")
  }

  /// The key of the vault that the values move into, which may exist; nil for that of the shared store.
  func newSource(_ path: String, for place: VaultPlace) throws -> KeySource? {
    try KeyChoice.only(
      of: [
        toKeyFile.map { .file($0) },
        toKeyCommand.map {
          .command(try CommandWords.words(of: $0, "--to-key-command"), name: nil)
        },
      ], "option for the vault's key"
    )?.named(by: place.knownSlots(of: path)).source(for: place, opening: path)
  }

  /// The vault whose values move into a store that machines share.
  func vaultForSharedStore(_ place: VaultPlace) throws -> VaultStorage {
    guard fromVault != nil || fromApp != nil else {
      throw Failure(.usage, "only --from-vault or --from-app moves values into such a store")
    }
    let old = try oldPlace()
    let given = try oldSource(oldChoice(), of: old.path, for: place) {
      try place.slots(of: old.path)
    }
    guard let source = given ?? old.key else {
      throw Failure(
        .usage, "say which key opens the vault: --from-key-file PATH, or another --from- option",
        path: old.path)
    }
    return VaultStorage(
      at: URL(fileURLWithPath: old.path, isDirectory: false), keySource: source,
      access: keeps ? .readOnly : .readWrite)
  }

  /// The keyring store that was named, which must exist.
  private func keychain(
    _ place: VaultPlace
  ) throws -> (place: KeychainPlace, slots: [KeySlot])? {
    guard let fromKeychain else { return nil }
    let keychain = try KeychainPlace(application: fromKeychain, place)
    let slots = try keychain.slots()
    guard !slots.isEmpty else {
      throw Failure(.noInput, "the keyring holds no sealed values of \(fromKeychain)")
    }
    return (keychain, slots)
  }

  /// Where the other store is, and the key that its application uses, if known.
  private func oldPlace() throws -> (path: String, key: KeySource?) {
    guard fromKeychain == nil else { return ("", nil) }
    if let fromSuite {
      return (try Self.required(SuitePlace.standardPath(of: fromSuite), "suite"), nil)
    }
    guard let fromApp else {
      let path = try Self.required(Path.absolute(fromVault ?? ""), "vault")
      try VaultPlace.requireNoIndex(path)
      return (path, nil)
    }
    let path = try Self.required(VaultStorage.standardPath(applicationID: fromApp), "vault")
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
    return (path, .file(folder.appendingPathComponent("master.key")))
  }

  /// What opens the other store.
  private static func slots(
    _ path: String, _ suite: String?, _ place: VaultPlace
  ) throws -> [KeySlot] {
    guard let suite else { return try place.slots(of: path) }
    return try UserDefaultsStorage(suiteName: suite, keySource: .firstAvailable([]))
      .keyAdministration.slots()
  }

  private static func required(_ path: String, _ what: String) throws -> String {
    guard try Path.isThere(path) else {
      throw Failure(.noInput, "the \(what) does not exist", path: path)
    }
    return path
  }

  private func migrate(
    _ source: some Storage, to destination: VaultStorage
  ) throws -> MigrationReport {
    try Progress.showing("migrate", output.output) { progress in
      try SecureStorage.migrate(
        from: source, to: destination, onConflict: overwrites ? .replace : .keepBoth,
        removingFromSource: !keeps, progress: progress)
    }
  }

  private func answer(_ report: MigrationReport) throws {
    try output.output.done(
      "\(report.copied) copied, \(report.alreadyThere) already there, \(report.removed) removed from "
        + "the other store",
      [
        "copied": report.copied, "alreadyThere": report.alreadyThere, "removed": report.removed,
        "conflicts": report.conflicts, "unreadable": report.unreadable,
      ])
    try report.requireAll()
  }
}

extension VaultPlace {
  func migrate(_ command: MigrateCommand) throws { try command.migrate(to: self) }
}
