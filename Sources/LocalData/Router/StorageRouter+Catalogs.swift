public import StorageCore

extension StorageRouter {
  /// Takes over a catalog, and refuses keys that are in none from now on.
  ///
  /// Several catalogs add up; one that was registered before is replaced. May block: whether the keychain
  /// is a keyring or a vault is found out here.
  ///
  /// - Parameter catalog: the type of the catalog.
  /// - Throws: `StorageError`, and then nothing is taken over: `duplicate` for two keys of one name in one
  ///   place, `invalid` for an empty description, a name or a number that can't be, `unsupported` for a
  ///   policy that the key's domain can't keep on this machine, `invalidAppGroupIdentifier`.
  public nonisolated func registerCatalog<Catalog: StorageKeyCatalog>(
    _ catalog: Catalog.Type
  ) throws(StorageError) {
    try core.register(Catalog.allKeys, as: "\(Catalog.self)")
  }

  /// Takes over a catalog that is a struct whose stored properties are its keys.
  ///
  /// - Parameter keys: the struct; properties that are no keys are left out.
  /// - Throws: as ``registerCatalog(_:)``; `invalid` for a value without keys.
  public nonisolated func registerKeys<Keys>(_ keys: Keys) throws(StorageError) {
    let list = StorageKeyList.keys(of: keys)
    guard !list.isEmpty else {
      throw StorageError(.invalid, "\(Keys.self) has no stored property that is a key")
    }
    try core.register(list, as: "\(Keys.self)")
  }

  /// The keys of a catalog that is a struct.
  ///
  ///     let token = try await router(AppKeys()).get(\.token)
  ///
  /// A key that is no property of the struct can't be named.
  public nonisolated func callAsFunction<Keys: Sendable>(_ keys: Keys) -> KeyedRouter<Keys> {
    KeyedRouter(router: self, keys: keys)
  }

  /// What the keys of all registered catalogs declare, by the names of the catalogs.
  public nonisolated var registeredKeys: [String: [StorageKeyDescriptor]] {
    core.state.withLock { $0.catalogs }.mapValues { $0.map(\.descriptor) }
  }
}

/// The keys that are stored properties of a value.
public enum StorageKeyList: Sendable {
  /// The keys among the stored properties of a struct, in their order, also those of structs in it.
  public static func keys<Keys>(of keys: Keys) -> [AnyStorageKey] {
    Mirror(reflecting: keys).children.flatMap { child -> [AnyStorageKey] in
      if let key = child.value as? any StorageKey { return [AnyStorageKey(key)] }
      return Mirror(reflecting: child.value).displayStyle == .struct
        ? Self.keys(of: child.value) : []
    }
  }
}
