internal import CryptoCore
public import FoundationEssentials

// The calls of the Apple package. None of them throws: errors go to the error closure. A read that
// fails returns the same as a read of a key without a value.

extension Storage {
  /// Stores each value whose key has none; all of them or none, where the place has transactions.
  ///
  /// A plain delegate, a keyring and a provider store one after the other, etcd in batches.
  ///
  /// Unlike in `UserDefaults`, the values are stored. An existing value is never replaced.
  public func register(defaults registration: [StoreKey: Any]) {
    _ = reporting { () throws(StorageError) in
      var values: [(RecordName, [UInt8])] = []
      defer { for index in values.indices { Wipe.bytes(&values[index].1) } }
      for (key, value) in registration {
        do throws(StorageError) {
          values.append(
            (store.name(key), try SealedStore.payload(value, key, ValueCoder<Any>.automatic())))
        } catch {
          throw error.about(key)
        }
      }
      try store.writeWhereAbsent(values)
    }
  }

  /// The value of a key; nil when there is none or it could not be read.
  public func value<V>(forKey key: StoreKey) -> V? {
    reporting { () throws(StorageError) in try load(V.self, forKey: key) }
  }

  /// The value of a key; nil when there is none or it was stored only as `Codable`.
  public func value(forKey key: StoreKey) -> Any? {
    reporting { () throws(StorageError) in try load(Any.self, forKey: key) }
  }

  /// The value of a key that was stored as `Codable`, or nil.
  public func decodable<D: Decodable>(forKey key: StoreKey) -> D? {
    reporting { () throws(StorageError) in try load(decodable: D.self, forKey: key) }
  }

  /// The `Data` of a key, or nil.
  public func data(forKey key: StoreKey) -> Data? { value(forKey: key) }

  /// The `String` of a key, or nil.
  public func string(forKey key: StoreKey) -> String? { value(forKey: key) }

  /// The array of a key, or nil.
  public func array(forKey key: StoreKey) -> [Any]? { value(forKey: key) }

  /// The set of a key, or nil.
  public func set(forKey key: StoreKey) -> Set<AnyHashable>? { value(forKey: key) }

  /// The set of a key, or nil.
  public func set<Element: Hashable>(forKey key: StoreKey) -> Set<Element>? { value(forKey: key) }

  /// The dictionary of a key, or nil.
  public func dictionary(forKey key: StoreKey) -> [String: Any]? { value(forKey: key) }

  /// The array of strings of a key, or nil.
  public func stringArray(forKey key: StoreKey) -> [String]? { value(forKey: key) }

  /// The `Int` of a key, or 0.
  public func integer(forKey key: StoreKey) -> Int { value(forKey: key) ?? 0 }

  /// The `Float` of a key, or 0.
  public func float(forKey key: StoreKey) -> Float { value(forKey: key) ?? 0 }

  /// The `Double` of a key, or 0.
  public func double(forKey key: StoreKey) -> Double { value(forKey: key) ?? 0 }

  /// The `Bool` of a key, or false.
  public func bool(forKey key: StoreKey) -> Bool { value(forKey: key) ?? false }

  /// The `URL` of a key, or nil.
  public func url(forKey key: StoreKey) -> URL? { value(forKey: key) }

  /// Stores a value of any storable type; nil removes the key's value.
  public func set<V>(_ value: V?, forKey key: StoreKey) {
    _ = reporting { () throws(StorageError) in
      try save(value, forKey: key)
    }
  }

  /// Stores a value as `Codable`, in JSON; nil removes the key's value.
  public func set(encodable: (any Encodable)?, forKey key: StoreKey) {
    _ = reporting { () throws(StorageError) in
      guard let encodable else { return try delete(forKey: key) }
      try save(encodable: encodable, forKey: key)
    }
  }

  /// Removes the value of a key, if there is one.
  public func remove(forKey key: StoreKey) {
    _ = reporting { () throws(StorageError) in try delete(forKey: key) }
  }
}
