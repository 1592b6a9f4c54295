internal import StorageCore

extension ValueBinding {
  /// What the values of a key are bound to.
  ///
  /// Suites, the vault and the keyring refuse what another suite or service sealed, so the values
  /// in them need no id of a place.
  ///
  /// - Parameters:
  ///   - domain: the domain of the key.
  ///   - name: its name.
  ///   - address: the place of the value.
  ///   - storage: the configuration, which has the folders of groups.
  ///   - locations: the standard folders.
  ///   - ledger: the ledger; nil if there is none yet, and none may be created.
  init(
    _ domain: StorageDomain, _ name: String, at address: PlaceAddress,
    _ storage: StorageConfiguration, _ locations: Locations, _ ledger: Ledger?
  ) {
    var place: BoundPlace?
    switch domain.kind {
    case .fileSystem(.custom), .encryptedFileSystem(.custom):
      let path = address.container
      place = BoundPlace(
        id: { (isWriting) throws(StorageError) in
          try FolderIDs(ledger: ledger).id(of: path, isWriting: isWriting)
        },
        advice:
          "Or it was sealed in another folder: if you moved the folder here, call adoptFolder(at:)")
    case .appGroupUserDefaults(let id), .appGroupFileSystem(let id, _):
      place = BoundPlace(
        id: { (_) throws(StorageError) in
          Array(try GroupContainer.id(id, of: address, storage, locations).utf8)
        },
        advice: "Or it was sealed for another group")
    case .userDefaults, .keychain, .fileSystem, .encryptedFileSystem: break
    }
    self.init([domain.binding], name, place)
  }
}

extension GroupContainer {
  /// The id of the group whose folder contains a place.
  fileprivate static func id(
    _ declared: String?, of address: PlaceAddress, _ storage: StorageConfiguration,
    _ locations: Locations
  ) throws(StorageError) -> String {
    if let declared { return declared }
    guard let root = address.groupRoot else {
      let groups = try locations.groups()
      return String(address.container.dropFirst(groups.count + 1).prefix { $0 != "/" })
    }
    // The default group may have been another one when the value was stored.
    if let id = storage.defaultAppGroupIdentifier, let folder = storage.groupFolders[id],
      try PathText.absolute(folder) == root
    {
      return id
    }
    for (id, folder) in storage.groupFolders.sorted(by: { $0.key < $1.key })
    where try PathText.absolute(folder) == root { return id }
    return try GroupContainer(nil, storage, locations).id
  }
}
