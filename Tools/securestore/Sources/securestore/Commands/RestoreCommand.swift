internal import ArgumentParser
internal import FileBackend
internal import Foundation
internal import StorageCore
internal import VaultBackend

/// Replaces the contents of a store with those of a backup.
struct RestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Replace the store, or create it, from a backup.",
    discussion: """
      Replaces all values and all keys with the backup's, in one step; the backup must be sound. The command \
      asks first if the store exists, unless --yes is given. A file that is too broken stays beside the new \
      one. If a recovery key opened the backup, as on another machine, the application's own key opens the \
      store afterwards, too. With --etcd or --postgres, the values of a vault are put into the store, and other values stay.
      """)

  @Argument(help: "The backup.", completion: .file()) var source: String

  @Flag(name: .customLong("yes"), help: "Don't ask.") var isConfirmed = false

  @OptionGroup(title: "Store") var store: StoreOptions
  @OptionGroup(title: "Key of the backup") var key: KeyOptions
  @OptionGroup(title: "New key") var newKey: NewKeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws { try store.place().restore(self) }

  /// The absolute path of the backup, which must exist.
  func backup() throws -> String {
    let backup = try Path.absolute(source)
    guard try Path.isThere(backup) else {
      throw Failure(.noInput, "the backup does not exist", path: backup)
    }
    return backup
  }

  /// Restores a vault or a sealed folder.
  ///
  /// - Parameters:
  ///   - place: the store, for messages.
  ///   - index: the vault whose slots open it.
  ///   - backup: the vault of the backup with such slots.
  ///   - administration: the keys of the store.
  ///   - body: restores it.
  /// - Throws: `Failure`: `noInput` without a backup, `cancelled` if the answer is no; or an error of `body`.
  fileprivate func restore(
    _ place: any OperatedStore, _ index: VaultPlace, from backup: String,
    _ administration: KeyAdministration,
    _ body: (URL, @escaping (Int, Int) -> Void) throws -> VaultRestoration
  ) throws {
    let source = try self.backup()
    let before = index.readableSlots(of: index.path)
    if !isConfirmed, try Path.isThere(index.path) {
      let what =
        try Path.isVaultOrEmpty(index.path)
        ? "everything in \(place.path)"
        : "\(place.path), which is not a vault or is damaged at its start and will be moved aside,"
      try Terminal.requireConsent(
        "Replace \(what) with the contents of \(source)?", place.path,
        showing: before.ended(in: index.readableSlots(of: backup)).map {
          "This key will no longer open the vault: " + $0.described(at: index)
        })
    }
    let folders = try index.missingFolders()
    let restored = try Progress.showing("restore", output.output) { progress in
      try body(URL(fileURLWithPath: source), progress)
    }
    let added = try index.admit(
      newKey, afterOpeningWith: key.choice(), to: administration, output.output)
    let old =
      restored.oldFile.map { "; the old file, which was broken or not a vault, is \($0)" } ?? ""
    let ended = before.ended(in: index.readableSlots(of: index.path))
    try output.output.done(
      "restored \(place.path) from \(source): "
        + "\(Printable.count(restored.recordCount, "value"))\(old)",
      [
        "path": place.path, "backup": source, "values": restored.recordCount,
        "oldFile": restored.oldFile, "folders": folders, "ended": ended, "addedSlot": added?.slot,
      ])
    added?.note(output.output)
    output.output.note(ofNew: folders)
    output.output.note(ofEnded: ended)
  }
}

extension VaultPlace {
  func restore(_ command: RestoreCommand) throws {
    try Self.requireNoIndex(path)
    let backup = try command.backup()
    let storage = storage(try keySource(command.key, of: backup))
    try command.restore(self, self, from: backup, storage.keyAdministration) { url, progress in
      try storage.restore(from: url, progress: progress)
    }
  }
}

extension FolderPlace {
  func restore(_ command: RestoreCommand) throws {
    let backup = try command.backup() + "/" + VaultPlace.indexName
    let folder = folder(try index.keySource(command.key, of: backup))
    try command.restore(self, index, from: backup, folder.keyAdministration) { url, progress in
      try folder.restore(from: url) { progress($0, $1 ?? 0) }
    }
  }
}
