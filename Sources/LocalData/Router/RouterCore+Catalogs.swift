internal import StorageCore

extension RouterCore {
  /// Refuses a key that is in no catalog, if any catalog is registered.
  static func requireRegistration<Key: StorageKey>(
    of key: Key, in state: RouterState
  ) throws(StorageError) {
    guard !state.catalogs.isEmpty else { return }
    let names = state.catalogs.keys.sorted().joined(separator: ", ")
    guard let registration = state.registered[RouteKey(key)] else {
      throw StorageError(
        .unregisteredKey,
        "the key \(key.domain) of type \(Key.self) is not in the catalog \(names); add the key to the "
          + "catalog")
    }
    guard registration.declared.isOf(key) else {
      throw StorageError(
        .unregisteredKey,
        "the key is in the catalog \(registration.catalog) with another policy, serializer, availability "
          + "or syncPolicy; use the key from the catalog")
    }
  }

  /// Registers the whole catalog of a type, or refuses it.
  func register(_ keys: [AnyStorageKey], of type: any Any.Type) throws(StorageError) {
    var state = state.withLock { $0 }
    let generation = state.generation
    let name = "\(type)"
    let isTheirs = state.catalogTypes[name].map { $0 != ObjectIdentifier(type) } ?? false
    let catalog = isTheirs ? String(reflecting: type) : name
    state.catalogTypes[catalog] = ObjectIdentifier(type)
    state.catalogs[catalog] = keys
    state.registered = [:]
    var seen: [String: String] = [:]
    for (name, keys) in state.catalogs.sorted(by: { $0.key < $1.key }) {
      for key in keys { try register(key.base, name, &state, &seen) }
    }
    let (catalogs, types, registered) = (state.catalogs, state.catalogTypes, state.registered)
    let isTaken = self.state.withLock { now in
      guard now.generation == generation else { return false }
      (now.catalogs, now.catalogTypes, now.registered) = (catalogs, types, registered)
      now.startAnew()
      return true
    }
    // Another call registered or configured meanwhile, so try again.
    if !isTaken { try register(keys, of: type) }
  }

  private func register<Key: StorageKey>(
    _ key: Key, _ catalog: String, _ state: inout RouterState, _ seen: inout [String: String]
  ) throws(StorageError) {
    do throws(StorageError) {
      guard key.description.contains(where: { !$0.isWhitespace }) else {
        throw StorageError(
          .invalid, "the key of the catalog \(catalog) has no description; describe the data")
      }
      // A key for other machines may be listed; using it is refused.
      var anywhere = state
      if case .machines(let tags) = key.availability { anywhere.storage.machineTags = tags }
      if key.availability == .watchOnly {
        anywhere.storage.machineTags.insert(PlatformAvailability.watchTag)
      }
      if key.availability == .phoneOnly {
        anywhere.storage.machineTags.remove(PlatformAvailability.watchTag)
      }
      let resolution = try resolve(key, anywhere)
      if !state.waivesFloor, let sealing = resolution.plan.sealing,
        let fault = MaterialFloor.fault(of: sealing.pattern)
      {
        throw StorageError(.invalid, fault)
      }
      // Two keys are the same if their declarations are, or if both lead to the same place.
      for identity in ["\(key.domain)/\(key.name)", "\(resolution.address)/\(key.name)"] {
        let title = "\(Key.self) of \(catalog)"
        guard let other = seen.updateValue(title, forKey: identity) else { continue }
        throw StorageError(
          .duplicate,
          "\(other) and \(title) have the same name in \(key.domain); rename one of them")
      }
    } catch {
      throw error.about(key.name)
    }
    state.registered[RouteKey(key)] = Registration(catalog: catalog, declared: Declared(key))
  }
}
