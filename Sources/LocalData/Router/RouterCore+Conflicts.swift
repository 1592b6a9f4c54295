internal import StorageCore

extension RouterCore {
  /// Refuses a key whose value is stored in another way than the key and the configuration now say.
  ///
  /// - Throws: `configurationConflict`, which names the key and the difference.
  func requireNoConflict(
    _ key: some StorageKey, _ resolution: Resolution
  ) throws(StorageError) {
    guard let stored = try ledger.entry(key.domain, key.name), stored != resolution.entry else {
      return
    }
    guard let difference = try conflict(between: stored, and: resolution.entry) else { return }
    throw StorageError(
      .configurationConflict,
      "its value is stored \(difference). It was not changed: restore the configuration or the declaration, "
        + "or migrate the key", key: key.name)
  }

  /// The difference between how a value is stored and how it is declared; nil if no value is
  /// hidden.
  private func conflict(
    between stored: Ledger.Entry, and declared: Ledger.Entry
  ) throws(StorageError) -> String? {
    let isHidden =
      stored.address != declared.address || stored.protection != declared.protection
      || (stored.serializer != declared.serializer && stored.protection == .plain)
    guard isHidden, try places.place(at: stored.address).contains() else { return nil }
    if stored.address != declared.address {
      return "at another place, \(stored.address), but now declared for \(declared.address)"
    }
    if stored.protection != declared.protection {
      return "under \(stored.protection), but now declared under \(declared.protection)"
    }
    return "as \(stored.serializer), but now declared as \(declared.serializer)"
  }

  /// The keys whose stored values another configuration would hide, each with the difference.
  ///
  /// Opens the ledger, and checks the former places.
  func conflicts(under state: RouterState) throws(StorageError) -> [String] {
    var found: [String] = []
    for stored in try ledger.entries() {
      let declared = try entry(of: stored, under: state)
      if let difference = try conflict(between: stored, and: declared) {
        found.append("\(stored.domain.domain)/\(stored.name) is \(difference)")
      }
    }
    return found
  }

  /// The entry under another configuration, for a key whose declaration stays the same.
  func entry(
    of stored: Ledger.Entry, under state: RouterState
  ) throws(StorageError) -> Ledger.Entry {
    let addressing = try addressing(under: state)
    var declared = stored
    declared.address = try addressing.address(
      of: stored.name, in: stored.domain.domain, isPlain: stored.protection == .plain,
      isOfDevice: stored.address.kind == .deviceKeyring)
    if case .masterKey = stored.protection {
      declared.protection = .masterKey(MasterKeyID(addressing.keychain, state.encryption))
    }
    return declared
  }

  /// Finds places under a configuration, with the keychain where it is recorded.
  func addressing(under state: RouterState) throws(StorageError) -> Addressing {
    let keychain: PlaceAddress.Kind
    switch state.storage.keychain {
    case .vault: keychain = .vault
    case .keyring: keychain = .keyring
    case .automatic: keychain = try ledger.keychainPlace() ?? .vault
    }
    return Addressing(
      locations: places.locations, storage: state.storage, files: state.files,
      keychain: keychain)
  }
}
