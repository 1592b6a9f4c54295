internal import CryptoCore
internal import StorageCore

/// Which values a rotation seals again, and where they are.
extension Rotation {
  func addressing() throws(StorageError) -> Addressing { try core.addressing(under: state) }

  /// The places of the declared keys, with what seals their values.
  func declaredAddresses() throws(StorageError) -> [(
    address: PlaceAddress, domain: StorageDomain, origin: ProtectionPlan.Origin
  )] {
    let addressing = try addressing()
    var found: [(PlaceAddress, StorageDomain, ProtectionPlan.Origin)] = []
    for key in declared {
      // A declaration that is impossible here has no value.
      do throws(StorageError) {
        let plan = try ProtectionPlan(
          key.security, in: key.domain, keychain: addressing.keychain, hasPasscode: true,
          iterations: state.encryption.pbkdf2Iterations)
        let address = try addressing.address(
          of: key.name, in: key.domain, isPlain: plan.isPlain, isOfDevice: plan.isOfDevice)
        found.append((address, key.domain, plan.origin))
      } catch { continue }
    }
    return found
  }

  /// The master keys that are recorded, and the configured one.
  func masterKeys(_ entries: [Ledger.Entry]) throws(StorageError) -> [MasterKey] {
    var ids = [MasterKeyID(try addressing().keychain, state.encryption)]
    for case .masterKey(let id) in entries.map(\.protection) where !ids.contains(id) {
      ids.append(id)
    }
    var keys: [MasterKey] = []
    for id in ids {
      keys.append(try core.masterKey(id, length: state.encryption.masterKeyLength))
    }
    return keys
  }

  /// The places where the value of an entry may be: the recorded one, and the present one, if a
  /// folder above both was moved.
  func candidates(_ entry: Ledger.Entry) -> [PlaceAddress] {
    do throws(StorageError) {
      let present = try core.entry(of: entry, under: state).address
      return present == entry.address ? [present] : [entry.address, present]
    } catch {
      // The configuration has no place for the key.
      return [entry.address]
    }
  }

  func addresses(_ entries: [Ledger.Entry]) throws(StorageError) -> [PlaceAddress] {
    entries.flatMap { candidates($0) } + (try declaredAddresses().map(\.address))
  }

  /// The values that may be under a master key: by the ledger, and by the declarations, since a
  /// migration records its copy last.
  func values(of id: String) throws(StorageError) -> [SealedValue] {
    var values: [SealedValue] = []
    for entry in try ledger.entries() where entry.protection.masterKeyID == id {
      for address in candidates(entry) { values.append(SealedValue(address, entry.domain.domain)) }
    }
    let present = MasterKeyID(try addressing().keychain, state.encryption).description
    guard id == present else { return values }
    for (address, domain, origin) in try declaredAddresses() where origin == .masterKey {
      if !values.contains(where: { $0.address == address }) {
        values.append(SealedValue(address, domain))
      }
    }
    return values
  }

  /// The values in the folder of a group, of all programs; each with the ids that the group may
  /// have had.
  func values(
    in folder: SharedFolder, _ entries: [Ledger.Entry]
  ) throws(StorageError) -> [SealedValue] {
    let groups = try core.places.locations.groups()
    var (own, ids): ([SealedValue], [String]) = ([], [])
    for entry in entries where entry.protection == .groupKey {
      for address in candidates(entry) where address.isOfGroup(groups) {
        guard try core.groupFolder(of: address).path == folder.path else { continue }
        own.append(SealedValue(address, entry.domain.domain))
        if let id = entry.domain.domain.group { ids.append(id) }
      }
    }
    for (id, url) in state.storage.groupFolders.sorted(by: { $0.key < $1.key })
    where try PathText.absolute(url) == folder.path { ids.append(id) }
    ids.append(FilePath.name(of: folder.path))
    var seen: Set<String> = []
    ids = ids.filter { seen.insert($0).inserted }
    let known = Set(own.map(\.address))
    let all = try GroupValues(folder: folder, groups: ids).all()
    return own + all.filter { !known.contains($0.address) }
  }

  /// The folders of the groups that have a key.
  func groups(_ entries: [Ledger.Entry]) throws(StorageError) -> [SharedFolder] {
    var folders: [String: SharedFolder] = [:]
    for address in try addresses(entries)
    where address.isOfGroup(try core.places.locations.groups()) {
      let folder = try core.groupFolder(of: address)
      folders[folder.path] = folder
    }
    return folders.sorted { $0.key < $1.key }.map(\.value)
  }

  /// Lists the stored bytes of values, and those that can't be read.
  func list(
    _ values: [SealedValue], below root: String?
  ) throws(StorageError) -> (
    manifest: RotationManifest, unreadable: [(value: SealedValue, error: StorageError)]
  ) {
    var manifest = RotationManifest(root: root)
    var unreadable: [(value: SealedValue, error: StorageError)] = []
    for value in values {
      do throws(StorageError) {
        guard !value.address.kind.isSealing else {
          try core.binding(of: value).requirePlace()
          try manifest.add(value.address, nil)
          continue
        }
        guard let stored = try core.places.place(at: value.address).read(),
          stored.starts(with: Envelope.mark)
        else { continue }
        try core.binding(of: value).requirePlace()
        try manifest.add(value.address, stored)
      } catch {
        guard Resealer.isOfValue(error) else { throw error }
        unreadable.append((value, error))
      }
    }
    return (manifest, unreadable)
  }
}

extension StorageDomain {
  /// The id of the group that the key names.
  fileprivate var group: String? {
    switch kind {
    case .appGroupUserDefaults(let id), .appGroupFileSystem(let id, _): id
    default: nil
    }
  }
}

extension PlaceAddress {
  /// Whether the place is in a group's folder, given the folder of all groups.
  fileprivate func isOfGroup(_ groups: String) -> Bool {
    guard kind == .file || kind == .plainSuite else { return false }
    return groupRoot != nil || container.hasPrefix(groups + "/")
  }
}
