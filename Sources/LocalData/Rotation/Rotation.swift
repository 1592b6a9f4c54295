internal import CryptoCore
internal import StorageCore

internal import struct FoundationEssentials.Data

/// A completed step of a rotation, already durable.
package enum RotationStep: String, Hashable, Sendable, CaseIterable {
  case rotatedStore, recordedStore, began, replacedKey, resealed, dropped, recordedKey, ended
}

/// What a rotation was asked for.
struct RotationOptions: Sendable {
  /// Opens the stores from now on; nil keeps their source.
  var source: KeySource?
  /// Whether names are hashed with new keys, too.
  var names = false
  /// Whether values that can't be reached are given up; the report names them.
  var isAbandoning = false
  var progress: (@Sendable (Int, Int) -> Void)?
  var onStep: @Sendable (RotationStep) -> Void = { _ in }
}

/// Replaces all keys behind a router's values: those of its stores, then its master keys, then the
/// keys of its groups.
///
/// The stores come first, so that a new master key is never in a store that an old key opens. It
/// blocks. A run continues a killed one: the ledger records the stores and keys that are done.
struct Rotation {
  let core: RouterCore
  let state: RouterState
  /// The declared keys; the ledger has all others that have values.
  let declared: [StorageKeyDescriptor]
  let options: RotationOptions
  var report = StorageRotationReport()
  var record = RotationRecord()
  /// Whether a former key is kept, since values may still be under it.
  private var isUnfinished = false
  private var (done, total) = (0, 0)
  var ledger: Ledger { core.ledger }

  init(_ core: RouterCore, _ declared: [StorageKeyDescriptor], _ options: RotationOptions) {
    self.core = core
    self.declared = declared
    self.options = options
    state = core.state.withLock { $0 }
  }

  /// Runs the rotation, or continues an interrupted one.
  ///
  /// - Throws: `StorageError`; every value stays readable, and another run continues.
  mutating func run() throws(StorageError) {
    let places = core.places
    if let source = options.source { places.keys.add(source) }
    let (stores, entries): ([RotatedStore], [Ledger.Entry])
    do throws(StorageError) {
      (stores, entries) = try begin()
    } catch {
      // Nothing was changed, so no new store may get the new key.
      places.keys.withdraw()
      throw error
    }
    guard !stores.isEmpty || !entries.isEmpty else { return finish() }
    total = stores.count + entries.count
    record.hasNewSource = options.source != nil
    try ledger.record(record)
    for store in stores { try rotate(store) }
    for key in try masterKeys(entries) {
      try rotate(key) { [self] () throws(StorageError) in try values(of: key.id) }
    }
    for folder in try groups(entries) { try rotateGroup(folder, entries) }
    if !isUnfinished {
      try ledger.endRotation()
      options.onStep(.ended)
    }
    finish()
    options.progress?(total, total)
  }

  /// Finds all stores, and refuses a rotation that would lose values; changes nothing.
  private mutating func begin() throws(StorageError) -> ([RotatedStore], [Ledger.Entry]) {
    try requireOpen(.vault(Ledger.file))
    let entries = try ledger.entries()
    let stores = try existing(try addresses(entries))
    for store in stores { try requireOpen(store) }
    record = try ledger.rotation() ?? RotationRecord()
    try requireSameSource(stores)
    if !stores.isEmpty || !entries.isEmpty { try requireReachable(of: entries, stores) }
    return (stores, entries)
  }

  /// Whether there is anything to rotate; creates nothing.
  static func hasStores(
    _ core: RouterCore, _ declared: [StorageKeyDescriptor]
  ) throws(StorageError) -> Bool {
    let rotation = Rotation(core, declared, RotationOptions())
    // The ledger may open with the new source alone, which is not added yet.
    if try RotatedStore.vault(Ledger.file).exists(core.places) { return true }
    return try !rotation.existing(try rotation.addresses([])).isEmpty
  }

  private func finish() {
    core.places.keys.dropOld()
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
      if record.incomplete.contains(store.title) {
        leave(store.title, store.title, Self.isIncomplete)
      }
      return
    }
    let rotated = try store.rotate(core.places, openedBy: options.source, names: options.names)
    report.stores.append(rotated)
    options.onStep(.rotatedStore)
    record.stores.insert(store.title)
    if rotated.setAside > 0 || !rotated.remaining.isEmpty {
      record.incomplete.insert(store.title)
    }
    try ledger.record(record)
    options.onStep(.recordedStore)
  }

  private static let isIncomplete = StorageError(
    .damaged,
    "an interrupted run found records in it that can't be read; look at them with verify")

  private mutating func tell() {
    done += 1
    options.progress?(min(done, total), total)
  }

  // MARK: - Shared keys

  private mutating func rotateGroup(
    _ folder: SharedFolder, _ entries: [Ledger.Entry]
  ) throws(StorageError) {
    let key = GroupKey(folder: folder, ledger: ledger)
    do throws(StorageError) {
      guard try key.material(isWriting: false) != nil else { return }
    } catch {
      guard Resealer.isOfValue(error) || error.code == .keyUnavailable else { throw error }
      return keep(key.title, folder.path, error)
    }
    // A program that dies does not keep others from rotating the group's key.
    try key.lock.rotating { () throws(StorageError) in
      try rotate(key) { [self] () throws(StorageError) in try values(in: folder, entries) }
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
      return keep(key.title, "the keychain", error)
    }
    if !record.begun.contains(key.title) {
      // Another program's rotation of this key was interrupted; its new key may have leaked since.
      if try key.former() != nil, try !reseal(key, values) { return }
      record.begun.insert(key.title)
      try ledger.record(record)
      options.onStep(.began)
    }
    if try key.former() == nil, !record.replaced.contains(key.title) {
      try key.lock.excluding { () throws(StorageError) in
        try key.replace { () throws(StorageError) in
          let (manifest, unreadable) = try list(try values(), below: key.group?.path)
          // It was readable when the rotation began.
          if !options.isAbandoning, let first = unreadable.first {
            throw first.error
          }
          return manifest
        }
      }
      options.onStep(.replacedKey)
    }
    record.replaced.insert(key.title)
    try ledger.record(record)
    guard try reseal(key, values) else { return }
    // Somebody may have put the old key back meanwhile.
    _ = try key.material(isWriting: false)
    report.keys.append(key.title)
    record.done.insert(key.title)
    try ledger.record(record)
    options.onStep(.recordedKey)
  }

  /// Seals the values of a key again, and drops the former key.
  ///
  /// - Returns: false if a value was left, so that the former key and its list are kept.
  private mutating func reseal<Key: RotatedKey>(
    _ key: Key, _ values: () throws(StorageError) -> [SealedValue]
  ) throws(StorageError) -> Bool {
    guard let present = try key.material(isWriting: false) else { return true }
    let former = try key.former()
    let resealer = try Resealer(core, present, former)
    let (before, found) = (report.left.count, try values())
    let known = Set(found.map(\.address.label))
    // Listed values count, even if they are neither in the ledger nor declared now.
    let listed = former?.manifest.values(in: key.group) ?? []
    // A value that has several possible places is in one of them.
    var (seen, absent): (Set<String>, [SealedValue]) = ([], [])
    for value in found + listed.filter({ !known.contains($0.address.label) }) {
      let outcome = try resealer.reseal(value)
      if case .absent = outcome { absent.append(value) } else { seen.insert(value.title) }
      switch outcome {
      case .resealed:
        report.resealed += 1
        options.onStep(.resealed)
      case .unchanged, .absent: break
      case .left(let error): leave(value.title, "\(value.address)", error)
      }
      tell()
    }
    for value in absent where !seen.contains(value.title) {
      guard let error = try whyUnreachable(value.address) else { continue }
      leave(value.title, "\(value.address)", error)
    }
    guard report.left.count == before else {
      isUnfinished = true
      return false
    }
    try key.dropFormer()
    options.onStep(.dropped)
    return true
  }

  /// Names a key that could not be replaced.
  private mutating func keep(_ name: String, _ place: String, _ error: StorageError) {
    leave(name, place, error)
    isUnfinished = !options.isAbandoning || isUnfinished
  }

  mutating func leave(_ name: String, _ place: String, _ error: StorageError) {
    let left = StorageRotationReport.Left(name: name, place: place, error: error)
    guard options.isAbandoning else { return report.left.append(left) }
    if !report.abandoned.contains(left) { report.abandoned.append(left) }
  }
}
