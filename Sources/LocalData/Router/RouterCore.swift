internal import CryptoCore
internal import StorageCore

internal import struct FoundationEssentials.Data

/// The state and the routes behind a router's actor.
final class RouterCore: Sendable {
  let places: Places
  let ledger: Ledger
  let state = Lock(RouterState())
  /// The connection to a shared store, which sends values to other machines.
  let sync = Lock(SyncLinks())
  /// The shared values of live properties, for each key.
  let liveHubs = WeakTable<RouteKey, LiveHub>()
  /// The keys that a property could not read at the last attempt, with the errors.
  let failedReads = FailedReads()
  private let changes = Lock<[PlaceAddress: Observers<Void>]>([:])

  init(_ places: Places, _ storage: StorageConfiguration = StorageConfiguration()) {
    self.places = places
    ledger = Ledger(places.vault(Ledger.file))
    state.withLock { $0.storage = storage }
  }

  /// The observers of this process's writes at a place.
  func changes(at address: PlaceAddress) -> Observers<Void> {
    changes.withLock { all in
      if let known = all[address] { return known }
      let new = Observers<Void>()
      all[address] = new
      return new
    }
  }

  // MARK: - Routes

  /// The route of a key, if it already exists.
  func knownRoute<Key: StorageKey>(for key: Key) -> Route<Key.Value>? {
    let id = RouteKey(key)
    guard let known = state.withLock({ $0.routes[id] }) as? KnownRoute<Key.Value>,
      known.isOf(key)
    else { return nil }
    return known.route
  }

  /// The route of a key; blocks at the first use of the key.
  func route<Key: StorageKey>(for key: Key) throws(StorageError) -> Route<Key.Value> {
    if let route = knownRoute(for: key) { return route }
    let state = state.withLock { $0 }
    do throws(StorageError) {
      try Self.requireRegistration(of: key, in: state)
      let resolution = try resolve(key, state)
      try requireNoConflict(key, resolution)
      let route = try makeRoute(key, resolution, state)
      followWrites(of: key, at: resolution.address)
      let known = KnownRoute(route, key)
      self.state.withLock { now in
        if now.generation == state.generation { now.routes[RouteKey(key)] = known }
      }
      return route
    } catch {
      throw error.about(key.name)
    }
  }

  /// The route of a key, without blocking a thread of Swift concurrency.
  func routeAsync<Key: StorageKey>(for key: Key) async throws(StorageError) -> Route<Key.Value> {
    if let route = knownRoute(for: key) { return route }
    return try await Blocking.run { () throws(StorageError) in try self.route(for: key) }
  }

  // MARK: - Resolving

  /// The place of a key's value, and its protection.
  struct Resolution: Sendable {
    let plan: ProtectionPlan
    let address: PlaceAddress
    let entry: Ledger.Entry
    /// The keychain's place for this key, which may not be recorded yet.
    let keychain: PlaceAddress.Kind
  }

  func resolve(
    _ key: some StorageKey, _ state: RouterState
  ) throws(StorageError) -> Resolution {
    try Self.check(key, state)
    let keychain = try keychainKind(for: key, state)
    var plan = try ProtectionPlan(
      key.security, in: key.domain, keychain: keychain, hasPasscode: state.passcode != nil,
      iterations: state.encryption.pbkdf2Iterations)
    plan.sealing?.waivesFloor = state.waivesFloor
    let address = try Addressing(
      locations: places.locations, storage: state.storage, files: state.files,
      keychain: keychain
    ).address(
      of: key.name, in: key.domain, isPlain: plan.isPlain, isOfDevice: plan.isOfDevice)
    let master = MasterKeyID(keychain, state.encryption)
    let entry = Ledger.Entry(
      domain: DomainText(key.domain), name: key.name, address: address,
      protection: plan.protection(masterKey: master),
      serializer: key.serializer.name)
    return Resolution(
      plan: plan, address: address, entry: entry, keychain: keychain)
  }

  /// Refuses a declaration that is invalid in any catalog.
  static func check<Key: StorageKey>(
    _ key: Key, _ state: RouterState
  ) throws(StorageError) {
    try KeyName.check(key.name, "a key")
    if let fault = key.serializer.fault(for: Key.Value.self) {
      throw StorageError(.unsupported, fault)
    }
    guard key.availability.allows(machineOf: state.storage.machineTags) else {
      throw StorageError(
        .unavailable,
        "the key is for \(key.availability) machines, but this machine's tags are "
          + "\(state.storage.machineTags.sorted())")
    }
  }

  /// Where the values of the domain `keychain` are: the recorded place, or the one that would be
  /// chosen now.
  private func keychainKind(
    for key: some StorageKey, _ state: RouterState
  ) throws(StorageError) -> PlaceAddress.Kind {
    switch state.storage.keychain {
    case .vault: return .vault
    case .keyring: return .keyring
    case .automatic:
      guard key.needsKeychain else { return .vault }
      if let recorded = try ledger.keychainPlace() { return recorded }
      return places.hasKeyring() ? .keyring : .vault
    }
  }

  /// Records the keychain's place before the first value is written there.
  func recordKeychain(_ kind: PlaceAddress.Kind) throws(StorageError) {
    let recorded = try ledger.recordKeychain(kind)
    guard recorded != kind else { return }
    let isDeclared = state.withLock { $0.storage.keychain != .automatic }
    // The former place was already searched, key by key.
    if isDeclared { return try ledger.change(to: kind) }
    state.withLock { $0.startAnew() }
    throw StorageError(
      .busy, "another process has just chosen where the keychain's values are; try again")
  }

  /// Records where a value is, before it is written; after the first write one look into the ledger.
  private func recordPlace(
    of key: some StorageKey, _ resolution: Resolution
  ) throws(StorageError) {
    // Whoever recorded the entry has recorded the keychain's place before.
    guard try ledger.entry(key.domain, key.name) != resolution.entry else { return }
    if key.needsKeychain { try recordKeychain(resolution.keychain) }
    // Another process may have another configuration, or may have moved the value.
    try requireNoConflict(key, resolution)
    try ledger.record(resolution.entry, key.domain)
  }

  // MARK: - Routes of resolutions

  func makeRoute<Key: StorageKey>(
    _ key: Key, _ resolution: Resolution, _ state: RouterState
  ) throws(StorageError) -> Route<Key.Value> {
    let place = try places.place(at: resolution.address)
    return Route(
      key.name, resolution.address, place, key.serializer, sealer(of: key, resolution, state),
      try materials(of: key.name, resolution.entry.protection, resolution.address, state),
      changes(at: resolution.address), failedRead(of: key),
      // Weak: the router keeps its routes.
      requireNoConflict: { [weak self] () throws(StorageError) in
        try Self.alive(self).requireNoConflict(key, resolution)
      },
      requireWritable: { [places] () throws(StorageError) in try places.requireWritable() },
      beforeWriting: { [weak self] () throws(StorageError) in
        try Self.alive(self).recordPlace(of: key, resolution)
      })
  }

  /// The router of a route.
  ///
  /// Callers of the router, and its properties, keep it alive.
  private static func alive(_ core: RouterCore?) throws(StorageError) -> RouterCore {
    if let core { return core }
    throw StorageError(
      .unavailable, "the router was released during the call; keep it until the call has ended")
  }

  private func sealer(
    of key: some StorageKey, _ resolution: Resolution, _ state: RouterState
  ) -> ValueSealer? {
    guard !resolution.plan.isPlain else { return nil }
    return ValueSealer(
      resolution.plan.sealing, key.serializer.form,
      binding: binding(of: key, at: resolution.address, state))
  }

  /// What the sealed values of a key are bound to.
  func binding(
    of key: some StorageKey, at address: PlaceAddress, _ state: RouterState
  ) -> ValueBinding {
    ValueBinding(key.domain, key.name, at: address, state.storage, places.locations, ledger)
  }

  /// The same for a value that was found without its declaration.
  func binding(of value: SealedValue) -> ValueBinding {
    ValueBinding(
      value.domain, value.name, at: value.address, state.withLock { $0.storage },
      places.locations, ledger)
  }

  /// The source of the material for values under a protection.
  func materials(
    of name: String, _ protection: StoredProtection, _ address: PlaceAddress,
    _ state: RouterState
  ) throws(StorageError) -> Materials {
    switch protection {
    case .plain, .place: return .none
    case .masterKey(let id):
      return .shared(try masterKey(id, length: state.encryption.masterKeyLength), address)
    case .groupKey:
      return .shared(GroupKey(folder: try groupFolder(of: address), ledger: ledger), address)
    case .passcode:
      let ask = state.passcode
      return .blocking { (_) throws(StorageError) in try Self.passcode(ask, for: address) }
    case .provider(let id):
      let source = KeyMaterialSource(id: id)
      guard let provider = state.providers[source] else {
        throw StorageError(
          .keyUnavailable,
          "no provider is registered for the key material source \(id); register it before the key is "
            + "used")
      }
      return .provider(
        ProviderCall(
          provider: provider, name: name, address: address, source: source,
          deadline: state.encryption.keyMaterialDeadline))
    }
  }

  func masterKey(
    _ id: MasterKeyID, length: Int
  ) throws(StorageError) -> MasterKey {
    try KeyName.check(id.service, "the master key's service")
    try KeyName.check(id.account, "the master key's account")
    return MasterKey(
      place: try places.place(at: id.address), pendingKey: try places.place(at: id.pendingKey),
      id: id.description, length: length, ledger: ledger, lock: try places.keyLock())
  }

  func groupFolder(of address: PlaceAddress) throws(StorageError) -> SharedFolder {
    if let root = address.groupRoot { return SharedFolder(path: root, groupRoot: root) }
    let groups = try places.locations.groups()
    // The folder below the folder of all groups.
    let id = address.container.dropFirst(groups.count + 1).prefix { $0 != "/" }
    return SharedFolder(path: groups + "/" + id)
  }

  private static func passcode(
    _ ask: (@Sendable () throws -> SecureBytes?)?, for address: PlaceAddress
  ) throws(StorageError) -> SecureBytes {
    let asking = AskedMaterial(address: address)
    try asking.check("the passcode closure")
    do {
      // The closure blocks this thread, so a call that it makes runs here, or in a task that it
      // made.
      let bytes = try asking.during { try ask?() }
      if let bytes, bytes.count > 0 { return bytes }
    } catch let error as StorageError {
      throw error
    } catch {
      // The error's text may contain the typed passcode.
      throw StorageError(
        .keyUnavailable, "the passcode closure failed: it threw \(type(of: error))")
    }
    throw StorageError(.keyUnavailable, "no passcode is available; see registerPasscode")
  }
}

extension StorageKey {
  /// Whether the key's value, or its master key, is in the keychain.
  var needsKeychain: Bool {
    if case .keychain = domain.kind { return true }
    guard case .encrypted(let policy) = security, !domain.isOfGroup else { return false }
    if case .external = policy { return false }
    return true
  }
}
