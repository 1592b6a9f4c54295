public import StorageCore

extension StorageRouter {
  /// Registers a catalog.
  ///
  /// From then on, keys that are in no registered catalog are refused.
  ///
  /// Several catalogs add up; registering a catalog again replaces it. A catalog goes by the name of its
  /// type, or by the full name if another registered type has that name. May block: this call
  /// determines whether the keychain is a keyring or a vault.
  ///
  /// - Parameter catalog: the type of the catalog.
  /// - Throws: `StorageError`, and then the catalog is not registered: `duplicate` for two keys of
  ///   one name in one place, `invalid` for an empty description or an invalid name or number,
  ///   `unsupported` for a policy that the key's domain can't keep on this machine,
  ///   `invalidAppGroupIdentifier`.
  public nonisolated func registerCatalog<Catalog: StorageKeyCatalog>(
    _ catalog: Catalog.Type
  ) throws(StorageError) {
    try core.register(Catalog.allKeys, of: Catalog.self)
  }

  /// Registers a catalog that is a struct whose stored properties are its keys.
  ///
  /// - Parameter keys: the struct; properties that are not keys are ignored.
  /// - Throws: as ``registerCatalog(_:)``; `invalid` for a value without keys.
  public nonisolated func registerKeys<Keys>(_ keys: Keys) throws(StorageError) {
    let list = StorageKeyList.keys(of: keys)
    guard !list.isEmpty else {
      throw StorageError(.invalid, "\(Keys.self) has no stored property that is a key")
    }
    try core.register(list, of: Keys.self)
  }

  /// The keys of a catalog that is a struct.
  ///
  ///     let token = try await router(AppKeys()).get(\.token)
  ///
  /// The compiler rejects a key that is not a property of the struct.
  public nonisolated func callAsFunction<Keys: Sendable>(_ keys: Keys) -> KeyedRouter<Keys> {
    KeyedRouter(router: self, keys: keys)
  }

  /// The declarations of all keys of the registered catalogs, by the catalogs' names.
  public nonisolated var registeredKeys: [String: [StorageKeyDescriptor]] {
    core.state.withLock { $0.catalogs }.mapValues { $0.map(\.descriptor) }
  }
}

/// The keys that are stored properties of a value.
package enum StorageKeyList: Sendable {
  /// The keys among the stored properties of a struct, in their order; includes those of nested
  /// structs.
  package static func keys<Keys>(of keys: Keys) -> [AnyStorageKey] {
    Mirror(reflecting: keys).children.flatMap { child -> [AnyStorageKey] in
      if let key = child.value as? any StorageKey { return [AnyStorageKey(key)] }
      return Mirror(reflecting: child.value).displayStyle == .struct
        ? Self.keys(of: child.value) : []
    }
  }
}
