internal import FileBackend
internal import StorageCore
internal import VaultBackend

/// A store whose own keys a rotation replaces.
enum RotatedStore: Hashable, Sendable {
  /// A vault in the application's data folder.
  case vault(String)
  case suite(String)
  case keyring(String, isOfDevice: Bool)
  case folder(String)

  /// The store that has a place's values; nil if the place seals nothing.
  init?(_ address: PlaceAddress) {
    switch address.kind {
    case .sealedSuite: self = .suite(address.container)
    case .vault: self = .vault(Places.keychainFile)
    case .keyring: self = .keyring(address.container, isOfDevice: false)
    case .deviceKeyring: self = .keyring(address.container, isOfDevice: true)
    case .sealedFolder: self = .folder(address.container)
    case .file, .plainSuite: return nil
    }
  }

  /// The name in reports and in the ledger.
  var title: String {
    switch self {
    case .vault(let file): "the vault \(file)"
    case .suite(let name): "the suite \(name)"
    case .keyring(let service, let isOfDevice):
      "the keyring's store \(service)\(isOfDevice ? " of this device" : "")"
    case .folder(let path): "the sealed folder \(path)"
    }
  }

  /// An open store.
  enum Open {
    case records(DelegatedStorage)
    case folder(SealedFolder)

    var administration: KeyAdministration {
      switch self {
      case .records(let storage): storage.keyAdministration
      case .folder(let folder): folder.keyAdministration
      }
    }
  }

  /// Whether the store exists and has keys; creates nothing.
  func exists(_ places: Places) throws(StorageError) -> Bool {
    try !places.opened(self).administration.slots().isEmpty
  }

  /// Replaces all keys of the store.
  ///
  /// - Parameters:
  ///   - places: opens the store.
  ///   - source: opens the store from now on; nil keeps its source.
  ///   - names: whether names are hashed anew, where the store can do that.
  /// - Returns: the report.
  /// - Throws: `StorageError`; the store then opens with one of the sources, and a later call
  ///   continues.
  func rotate(
    _ places: Places, openedBy source: KeySource?, names: Bool
  ) throws(StorageError) -> StorageRotationReport.Store {
    guard let source, !isOfKeyring || !source.isAutomatic else {
      return try rotate(places.opened(self), nil, names)
    }
    // After a kill, the new source may open the store already, and another program may have added
    // it. The root key must be a new one in either case.
    let new = try places.opened(self, by: source)
    if try isOpen(new) { return try rotate(new, nil, names) }
    return try rotate(places.opened(self), source, names)
  }

  /// Whether the store is in the desktop's keyring, and may keep its own key.
  var isOfKeyring: Bool {
    if case .keyring = self { return true }
    return false
  }

  /// Whether a source opens the store; true for a store of the keyring that keeps its own key.
  func isOpened(_ places: Places, by source: KeySource) throws(StorageError) -> Bool {
    guard !isOfKeyring || !source.isAutomatic else { return true }
    return try isOpen(places.opened(self, by: source))
  }

  private func isOpen(_ store: Open) throws(StorageError) -> Bool {
    do throws(StorageError) {
      return try store.administration.ownSlot() != nil
    } catch {
      guard [.wrongKey, .keyUnavailable].contains(error.code) else { throw error }
      return false
    }
  }

  private func rotate(
    _ store: Open, _ source: KeySource?, _ names: Bool
  ) throws(StorageError) -> StorageRotationReport.Store {
    switch store {
    case .records(let storage):
      let report = try storage.keyAdministration.rotate(
        openedBy: source, names: names && !isOfKeyring)
      return StorageRotationReport.Store(title, report, remaining: [])
    case .folder(let folder):
      let report = try folder.rotate(openedBy: source, names: names)
      return StorageRotationReport.Store(title, report.index, remaining: report.remaining)
    }
  }
}
