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
      Each is copied, read back, and only then removed from where it was; --keep leaves it there. \
      Interrupted, it is simply run again. Where the vault has another value under a name, both stay, \
      unless --overwrite is given.
      """)

  @Option(
    help: ArgumentHelp("A suite of sealed UserDefaults, by its name.", valueName: "name"))
  var fromSuite: String?

  @Option(help: ArgumentHelp("Another vault.", valueName: "path"), completion: .file())
  var fromVault: String?

  @Option(
    help: ArgumentHelp(
      "The key file of the other store; without an option, the vault's own key.",
      valueName: "path"), completion: .file())
  var fromKeyFile: String?

  @Flag(
    name: .customLong("from-passphrase"), help: "Ask for the other store's passphrase.")
  var asksOldPassphrase = false

  @Option(
    name: .customLong("from-passphrase-fd"),
    help: ArgumentHelp("Read the other store's passphrase from a descriptor.", valueName: "number"))
  var oldPassphraseDescriptor: Int32?

  @Flag(name: .customLong("keep"), help: "Leave the values where they are, too.")
  var keeps = false

  @Flag(name: .customLong("overwrite"), help: "Replace other values in the vault.")
  var overwrites = false

  @OptionGroup(title: "Vault") var vault: VaultOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    guard (fromSuite != nil) != (fromVault != nil) else {
      throw ValidationError("say where the values are: --from-suite NAME or --from-vault PATH")
    }
  }

  func run() throws {
    let place = try vault.place()
    try place.requireThere()
    let source = try place.keySource(key)
    let oldChoice = try KeyChoice.only(
      of: [
        fromKeyFile.map { .file($0) }, asksOldPassphrase ? .passphrase : nil,
        oldPassphraseDescriptor.map { .passphraseDescriptor($0) },
      ], "option for the other store's key")
    let oldSource = try oldChoice?.source(isNew: false, "passphrase of the other store") ?? source
    let destination = place.storage(source)
    try destination.open()
    let report =
      if let fromSuite {
        try migrate(
          UserDefaultsStorage(suiteName: fromSuite, keySource: oldSource), to: destination)
      } else {
        try migrate(try otherVault(oldSource), to: destination)
      }
    try answer(report)
  }

  private func otherVault(_ source: KeySource) throws -> VaultStorage {
    let path = Path.absolute(fromVault ?? "")
    guard Path.isThere(path) else { throw Failure(.noInput, "there is no vault", path: path) }
    return VaultStorage(
      at: URL(fileURLWithPath: path), keySource: source, access: keeps ? .readOnly : .readWrite)
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
      "\(report.copied) copied, \(report.alreadyThere) were there, \(report.removed) removed from "
        + "the other store",
      .object([
        ("copied", .number("\(report.copied)")),
        ("alreadyThere", .number("\(report.alreadyThere)")),
        ("removed", .number("\(report.removed)")),
        ("conflicts", .array(report.conflicts.map { .string($0) })),
        ("unreadable", .number("\(report.unreadable)")),
      ]))
    guard report.unreadable == 0 else {
      throw Failure(.unsound, "\(report.unreadable) values of the other store can't be opened")
    }
    guard report.conflicts.isEmpty else {
      throw Failure(
        .exists,
        "both were kept of \(report.conflicts.joined(separator: ", ")); --overwrite takes those of "
          + "the other store")
    }
  }
}
