internal import CryptoCore
internal import StorageCore

/// Checks that every value can be reached before a rotation changes anything, so that no value is lost
/// with the key that seals it.
extension Rotation {
  /// Refuses to continue an interrupted rotation with another key.
  func requireSameSource(_ stores: [RotatedStore]) throws(StorageError) {
    if let began = record.hasNewSource, began != (options.source != nil) { throw Self.otherSource }
    guard let source = options.source else { return }
    for store in stores where record.stores.contains(store.title) {
      guard try !store.isOpened(core.places, by: source) else { continue }
      // The ledger is the first store that the interrupted run gave its key.
      guard store != .vault(Ledger.file) else { throw Self.otherSource }
      throw StorageError(
        .wrongKey,
        "the new key opened \(store.title) before, but not any more: somebody may have put an old copy back. "
          + "Put the present store back")
    }
  }

  private static let otherSource = StorageError(
    .invalid,
    "an interrupted rotation began with another new key, or without one; finish it with the same key first. "
      + "Nothing was changed")

  /// Refuses a rotation while a value may be unreachable; or names these values, if the caller
  /// gives them up.
  mutating func requireReachable(
    of entries: [Ledger.Entry], _ stores: [RotatedStore]
  ) throws(StorageError) {
    try lookAtLedger(entries, stores)
    for entry in entries where entry.protection != .plain { try look(for: entry) }
    for key in try masterKeys(entries) {
      if try key.pendingKey.contains(), !record.begun.contains(key.title) {
        leave(key.title, Ledger.file, Self.oldLedger)
      }
      try look(key, "the keychain") { [self] () throws(StorageError) in try values(of: key.id) }
    }
    for folder in try groups(entries) {
      try look(GroupKey(folder: folder, ledger: ledger), folder.path) {
        [self] () throws(StorageError) in try values(in: folder, entries)
      }
    }
    guard let first = report.left.first else { return }
    let shown = report.left.prefix(10).map { "\($0.name) in \($0.place): \($0.error.message)" }
    let rest = report.left.count > 10 ? "; and \(report.left.count - 10) more" : ""
    throw StorageError(
      first.error.code,
      "nothing was changed, since the rotation would lose values that can't be reached: "
        + shown.joined(separator: "; ") + rest
        + ". Mount every disk, adopt moved folders, restore what is missing, and rotate again; or, if you need "
        + "none of these values, rotate and abandon what is missing")
  }

  /// Looks whether the ledger is there, and is the present one.
  private mutating func lookAtLedger(
    _ entries: [Ledger.Entry], _ stores: [RotatedStore]
  ) throws(StorageError) {
    let file = RotatedStore.vault(Ledger.file)
    let others = stores.filter { $0 != file }
    if entries.isEmpty, let other = others.first {
      leave(
        file.title, Ledger.file,
        StorageError(
          .unavailable,
          "it is missing or empty, but \(other.title) exists; restore it from a backup"))
    }
    // A rotation gives the ledger its key first, so another store can't have it before.
    guard let source = options.source, !record.stores.contains(file.title), stores.contains(file),
      try !file.isOpened(core.places, by: source)
    else { return }
    for other in others where !other.isOfKeyring {
      guard try other.isOpened(core.places, by: source) else { continue }
      return leave(file.title, Ledger.file, Self.oldLedger)
    }
  }

  /// Looks whether the container of an entry's value is there.
  private mutating func look(for entry: Ledger.Entry) throws(StorageError) {
    let isShared =
      [.groupKey, .place].contains(entry.protection) || entry.protection.masterKeyID != nil
    guard entry.address.kind.isSealing || isShared,
      let error = try whyUnreachable(entry.address)
    else { return }
    // A folder above it may have been moved, with the value.
    for address in candidates(entry) where address != entry.address {
      if try whyUnreachable(address) == nil, try core.places.place(at: address).contains() {
        return
      }
    }
    leave(
      SealedValue(entry.address, entry.domain.domain).title, "\(entry.address)", error)
  }

  /// Looks whether a shared key is there, and can be replaced without losing a value.
  private mutating func look(
    _ key: some RotatedKey, _ place: String, _ values: () throws(StorageError) -> [SealedValue]
  ) throws(StorageError) {
    guard !record.done.contains(key.title) else { return }
    do throws(StorageError) {
      guard try key.material(isWriting: false) != nil else { return }
      for (value, error) in try list(try values(), below: key.group?.path).unreadable {
        leave(value.title, "\(value.address)", error)
      }
    } catch {
      guard Resealer.isOfValue(error) || error.code == .keyUnavailable else { throw error }
      leave(key.title, place, error)
    }
  }

  /// Why the container of a place can't be reached; nil if it is there.
  func whyUnreachable(_ address: PlaceAddress) throws(StorageError) -> StorageError? {
    guard !address.isPurgeable else { return nil }
    do throws(StorageError) {
      if let store = RotatedStore(address), try !store.exists(core.places) { return Self.missing }
      guard [.file, .plainSuite, .sealedFolder].contains(address.kind) else { return nil }
      let path =
        address.kind == .plainSuite ? FilePath.folder(of: address.container) : address.container
      guard try FileStatus.of(path)?.isFolder == true else { return Self.missing }
      guard let id = try ledger.folder(address.container) else { return nil }
      return try FolderIDs.inFile(of: path) == id ? nil : Self.otherFolder
    } catch {
      guard Resealer.isOfValue(error) else { throw error }
      return error
    }
  }

  private static let missing = StorageError(.unavailable, "the place does not exist")
  private static let otherFolder = StorageError(
    .unavailable,
    "the folder does not have the id that the ledger knows, so another folder is in its place")
  private static let oldLedger = StorageError(
    .wrongKey,
    "it is older than other stores: somebody may have put an old copy back, or changed the keys of single "
      + "stores. Put the present ledger back; or, if it is the present one, give it the new key first"
  )
}
