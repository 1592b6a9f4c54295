internal import CryptoCore
internal import StorageCore

internal import struct Foundation.Data

/// A completed step of a rotation, already durable.
package enum RotationStep: String, Hashable, Sendable, CaseIterable {
  case rotatedStore, recordedStore, began, replacedKey, resealed, dropped, recordedKey, ended
}

/// Replaces all keys behind a router's values: those of its stores, then its master keys, then the keys of
/// its groups.
///
/// The stores come first, so that a new master key is never in a store that an old key opens. It blocks. A
/// run continues a killed one: the ledger records the stores and keys that are done.
struct Rotation {
  let core: RouterCore
  let state: RouterState
  /// The declared keys; the ledger has all others that have values.
  let declared: [StorageKeyDescriptor]
  let source: KeySource?
  let names: Bool
  let progress: (@Sendable (Int, Int) -> Void)?
  let onStep: @Sendable (RotationStep) -> Void
  var report = StorageRotationReport()
  private var record = RotationRecord()
  private var (done, total) = (0, 0)
  private var ledger: Ledger { core.ledger }

  init(
    _ core: RouterCore, _ declared: [StorageKeyDescriptor], openedBy source: KeySource?,
    names: Bool, progress: (@Sendable (Int, Int) -> Void)?,
    onStep: @escaping @Sendable (RotationStep) -> Void
  ) {
    self.core = core
    state = core.state.withLock { $0 }
    self.declared = declared
    self.source = source
    self.names = names
    self.progress = progress
    self.onStep = onStep
  }

  /// Runs the rotation, or continues an interrupted one.
  ///
  /// - Throws: `StorageError`; every value stays readable, and another run continues.
  mutating func run() throws(StorageError) {
    let places = core.places
    if let source { places.keys.add(source) }
    try requireOpen(.vault(Ledger.file))
    let entries = try ledger.entries()
    let addresses = entries.map(\.address) + (try declaredAddresses().map(\.address))
    let stores = try existing(addresses)
    guard !stores.isEmpty || !entries.isEmpty else { return settle() }
    // A store that does not open is an error before anything is changed.
    for store in stores { try requireOpen(store) }
    total = stores.count + entries.count
    record = try ledger.rotation() ?? RotationRecord()
    for store in stores { try rotate(store) }
    for key in try masterKeys(entries) {
      try rotate(key) { [self] () throws(StorageError) in try values(of: key.id) }
    }
    for folder in try groups(addresses) { try rotateGroup(folder) }
    try ledger.endRotation()
    onStep(.ended)
    settle()
    progress?(total, total)
  }

  private func settle() {
    core.places.keys.settle()
    core.state.withLock { $0.startAnew() }
  }

  // MARK: - Stores

  private func requireOpen(_ store: RotatedStore) throws(StorageError) {
    guard try store.exists(core.places) else { return }
    _ = try core.places.opened(store).administration.ownSlot()
  }

  /// The stores that exist, the ledger first.
  private func existing(_ addresses: [PlaceAddress]) throws(StorageError) -> [RotatedStore] {
    var stores: [RotatedStore] = [.vault(Ledger.file), .vault(Places.keychainFile)]
    var found = addresses
    let addressing = try addressing()
    for domain in [
      StorageDomain.userDefaults, .encryptedFileSystem(directory: .documents),
      .encryptedFileSystem(directory: .caches),
    ] where !core.places.isInMemory {
      found.append(try addressing.address(of: "x", in: domain, isPlain: false))
    }
    found.append(MasterKeyID(addressing.keychain, state.encryption).address)
    for store in found.compactMap({ RotatedStore($0) }).sorted(by: { $0.title < $1.title })
    where !stores.contains(store) { stores.append(store) }
    var existing: [RotatedStore] = []
    for store in stores where try store.exists(core.places) { existing.append(store) }
    return existing
  }

  private mutating func rotate(_ store: RotatedStore) throws(StorageError) {
    defer { tell() }
    guard !record.stores.contains(store.title) else {
      guard let source, try !store.isOpened(core.places, by: source) else { return }
      throw StorageError(
        .wrongKey,
        "the new key opened \(store.title) before, but not any more: somebody may have put an old copy back. "
          + "Put the present store back")
    }
    report.stores.append(try store.rotate(core.places, openedBy: source, names: names))
    onStep(.rotatedStore)
    record.stores.insert(store.title)
    try ledger.record(record)
    onStep(.recordedStore)
  }

  private mutating func tell() {
    done += 1
    progress?(min(done, total), total)
  }

  // MARK: - Shared keys

  private func addressing() throws(StorageError) -> Addressing {
    let keychain: PlaceAddress.Kind
    switch state.storage.keychain {
    case .vault: keychain = .vault
    case .keyring: keychain = .keyring
    case .automatic: keychain = try ledger.keychainPlace() ?? .vault
    }
    return Addressing(
      locations: core.places.locations, storage: state.storage, files: state.files,
      keychain: keychain)
  }

  /// The places of the declared keys, with what seals their values.
  private func declaredAddresses() throws(StorageError) -> [(
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
  private func masterKeys(_ entries: [Ledger.Entry]) throws(StorageError) -> [MasterKey] {
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

  /// The values that may be under a master key: by the ledger, and by the declarations, since a migration
  /// records its copy last.
  private func values(of id: String) throws(StorageError) -> [SealedValue] {
    var values: [SealedValue] = []
    for entry in try ledger.entries() where entry.protection.masterKeyID == id {
      values.append(SealedValue(entry.address, entry.domain.domain))
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

  /// The folders of the groups that have a key.
  private func groups(_ addresses: [PlaceAddress]) throws(StorageError) -> [SharedFolder] {
    var folders: [String: SharedFolder] = [:]
    for address in addresses where address.isOfGroup(try core.places.locations.groups()) {
      let folder = try core.groupFolder(of: address)
      folders[folder.path] = folder
    }
    return folders.sorted { $0.key < $1.key }.map(\.value)
  }

  private mutating func rotateGroup(_ folder: SharedFolder) throws(StorageError) {
    let key = GroupKey(folder: folder, ledger: ledger)
    do throws(StorageError) {
      guard try key.material(isWriting: false) != nil else { return }
    } catch {
      guard [.unavailable, .denied, .keyUnavailable, .damaged, .wrongKey].contains(error.code)
      else { throw error }
      return leave(key.title, folder.path, error)
    }
    // A program that dies keeps nobody else from rotating the group's key.
    try key.lock?.rotating { () throws(StorageError) in
      let values = try GroupValues(folder, state.storage)
      try rotate(key) { () throws(StorageError) in try values.all() }
    }
  }

  /// Replaces a shared key, and seals its values again.
  private mutating func rotate<Key: RotatedKey>(
    _ key: Key, _ values: () throws(StorageError) -> [SealedValue]
  ) throws(StorageError) {
    guard !record.done.contains(key.title) else { return }
    do throws(StorageError) {
      guard try key.material(isWriting: false) != nil else { return }
      // Records a key whose creator died before that.
      _ = try key.material(isWriting: true)
    } catch {
      guard [.keyUnavailable, .wrongKey, .damaged].contains(error.code) else { throw error }
      return leave(key.title, "the keychain", error)
    }
    if !record.begun.contains(key.title) {
      // Another program's rotation of this key was interrupted; its new key may have leaked since.
      if try key.former() != nil { try reseal(key, values) }
      record.begun.insert(key.title)
      try ledger.record(record)
      onStep(.began)
    }
    if try key.former() == nil {
      try Self.excluding(key) { () throws(StorageError) in
        try key.replace { () throws(StorageError) in
          try list(try values(), below: (key as? GroupKey)?.folder.path)
        }
      }
      onStep(.replacedKey)
    }
    try reseal(key, values)
    report.keys.append(key.title)
    record.done.insert(key.title)
    try ledger.record(record)
    onStep(.recordedKey)
  }

  private static func excluding(
    _ key: some RotatedKey, _ body: () throws(StorageError) -> Void
  ) throws(StorageError) {
    guard let lock = key.lock else { return try body() }
    try lock.excluding(body)
  }

  /// Lists the stored bytes of values; those that can't be read are not in the list.
  private func list(
    _ values: [SealedValue], below root: String?
  ) throws(StorageError) -> RotationManifest {
    var manifest = RotationManifest(root: root)
    for value in values {
      do throws(StorageError) {
        guard !value.address.kind.isSealing else {
          try manifest.add(value.address, nil)
          continue
        }
        guard let stored = try core.places.place(at: value.address).read(),
          stored.starts(with: Envelope.mark)
        else { continue }
        try manifest.add(value.address, stored)
      } catch {
        guard Resealer.isOfValue(error) else { throw error }
      }
    }
    return manifest
  }

  private mutating func reseal<Key: RotatedKey>(
    _ key: Key, _ values: () throws(StorageError) -> [SealedValue]
  ) throws(StorageError) {
    guard let present = try key.material(isWriting: false) else { return }
    let former = try key.former()
    let resealer = try Resealer(core, present, former)
    for value in try values() {
      switch try resealer.reseal(value) {
      case .resealed:
        report.resealed += 1
        onStep(.resealed)
      case .unchanged: break
      case .left(let error): leave(value.title, "\(value.address)", error)
      }
      tell()
    }
    try key.dropFormer()
    onStep(.dropped)
  }

  private mutating func leave(_ name: String, _ place: String, _ error: StorageError) {
    report.left.append(StorageRotationReport.Left(name: name, place: place, error: error))
  }
}

extension StoredProtection {
  /// The name of the master key, if that seals the value.
  fileprivate var masterKeyID: String? {
    if case .masterKey(let id) = self { return id.description }
    return nil
  }
}

extension PlaceAddress {
  /// Whether the place is in a group's folder, given the folder of a single user's groups.
  fileprivate func isOfGroup(_ groups: String) -> Bool {
    guard kind == .file || kind == .plainSuite else { return false }
    return groupRoot != nil || container.hasPrefix(groups + "/")
  }
}
