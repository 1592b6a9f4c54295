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
      place = Self.folder(domain, name, address.container, ledger)
    case .appGroupUserDefaults(let id), .appGroupFileSystem(let id, _):
      place = BoundPlace(
        id: { (_) throws(StorageError) in
          Array(try GroupContainer.id(id, of: address, storage, locations).utf8)
        },
        requireOldForm: { () throws(StorageError) in
          guard try ledger?.isBound(domain, name) != true else { throw Self.olderForm }
        },
        advice: "Or it was sealed for another group")
    case .userDefaults, .keychain, .fileSystem, .encryptedFileSystem: break
    }
    self.init([domain.binding], name, place)
  }

  private static func folder(
    _ domain: StorageDomain, _ name: String, _ path: String, _ ledger: Ledger?
  ) -> BoundPlace {
    BoundPlace(
      id: { (isWriting) throws(StorageError) in
        try FolderIDs(ledger: ledger).id(of: path, isWriting: isWriting)
      },
      requireOldForm: { () throws(StorageError) in
        guard let ledger else { return }
        guard try !ledger.isBound(domain, name) else { throw Self.olderForm }
        // The router records each value that it writes, so any other value of that form came from
        // elsewhere.
        guard try ledger.entry(domain, name) == nil, try ledger.folder(path)?.takesOldForm != true
        else { return }
        throw StorageError(
          .damaged,
          "the value is bound to no folder, and this program did not store it here; it was not opened. If "
            + "you moved the folder here, call adoptFolder(at:)")
      },
      advice:
        "Or it was sealed in another folder: if you moved the folder here, call adoptFolder(at:)")
  }

  private static let olderForm = StorageError(
    .damaged,
    "the value is bound to no folder or group, but a newer value of the key was: somebody put an older "
      + "value here, or an older release of a program wrote it. It was not opened; store the value again"
  )
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
