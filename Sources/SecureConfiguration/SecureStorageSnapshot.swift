#if Configuration
  internal import CryptoCore
  internal import Configuration
  internal import StorageCore

  /// All values of a storage at one moment, sealed.
  struct SecureStorageSnapshot: ConfigSnapshot {
    let providerName: String
    private let reading: ValueReading
    private let contents: Result<StoreSnapshot, StorageError>

    init(_ providerName: String, _ reading: ValueReading, of storage: any Storage) {
      self.providerName = providerName
      self.reading = reading
      contents = Result { () throws(StorageError) in try storage.store.snapshot() }
    }

    func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
      let contents = try contents.get()
      return try reading.look(up: key, as: type) { (name) throws(StorageError) in
        try contents.load(Any.self, forKey: name)
      }
    }
  }

  extension SecureStorageSnapshot: RedactedDescription {
    var description: String { providerName }
  }
#endif
