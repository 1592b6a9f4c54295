#if Configuration
  public import CryptoCore
  public import Configuration
  public import StorageCore

  /// A provider of swift-configuration that reads a storage: a vault, a suite, the keyring or
  /// memory.
  ///
  ///     let config = ConfigReader(providers: [
  ///       CommandLineArgumentsProvider(), EnvironmentVariablesProvider(),
  ///       SecureStorageProvider(VaultStorage.standard),
  ///     ])
  ///     let password = try config.requiredString(forKey: "database.password")
  ///
  /// A value that can't be read throws an error and never counts as absent. But
  /// `config.string(forKey:)` without `required` returns nil for any error of a provider; that is
  /// how swift-configuration works. For values that must exist, use the required forms or `fetch`.
  ///
  /// - `value`, which `string(forKey:)` calls, reads as a property does: from memory for a vault, a
  ///   suite or memory, and it sees every earlier write. The first read of a keyring's value waits
  ///   for the keyring's service; use `fetch` or `watch` there, which block no thread of Swift
  ///   concurrency.
  /// - `snapshot()` of a vault, a suite or memory holds all values of one moment, even if others
  ///   write meanwhile. For the keyring and for your own delegates the values are read one after
  ///   the other. Values stay sealed in the snapshot until they are read. Creating a snapshot reads
  ///   all records of the storage. If that fails, each look-up in the snapshot throws the reason.
  /// - `watchValue` and `watchSnapshot` deliver the current state, then each later one. They skip
  ///   states that were replaced before the listener received them. An error is a state too.
  ///
  /// A value may be read as another type than its stored one if the conversion is exact; otherwise
  /// the read throws `typeMismatch`. The context of keys is ignored.
  ///
  /// | asked for | stored |
  /// |---|---|
  /// | `string` | `String`, `URL`, `UUID` |
  /// | `int` | any integer that fits, or a text of one |
  /// | `double` | `Double`, `Float`, an integer that a `Double` holds exactly, or a text of a number |
  /// | `bool` | `Bool`, or a text: `true`, `false`, `yes`, `no`, `1`, `0` in any case |
  /// | `bytes` | `Data`, `[UInt8]`, or a text that the decoder reads, by default Base64 |
  /// | lists of these | a list of such elements, or a text with a separator, by default `,` |
  ///
  /// Texts are accepted because an env file contains nothing else.
  public struct SecureStorageProvider: ConfigProvider {
    /// The name in access reports, such as `SecureStorageProvider[VaultStorage]`.
    public let providerName: String
    private let storage: any Storage
    private let reading: ValueReading

    /// Creates a provider for the values of a storage.
    ///
    /// - Parameters:
    ///   - storage: the storage.
    ///   - naming: how keys map to names of values.
    ///   - secrets: which values are secret, by their names in the storage; logs and access reports
    ///     never show a secret value. By default all values are secret.
    ///   - bytesDecoder: how a stored text is read as bytes. Stored data is used unchanged.
    ///   - arraySeparator: the separator between the elements of a list in a stored text.
    ///   - name: distinguishes this provider from others, in its name.
    public init(
      _ storage: any Storage, naming: KeyNaming = .dotted,
      secrets: SecretsSpecifier<String, ConfigContent> = .all,
      bytesDecoder: some ConfigBytesFromStringDecoder = .base64, arraySeparator: Character = ",",
      name: String? = nil
    ) {
      let title = name.map { "\(type(of: storage)), \($0)" } ?? "\(type(of: storage))"
      providerName = "SecureStorageProvider[\(title)]"
      self.storage = storage
      reading = ValueReading(
        naming: naming, secrets: secrets,
        conversion: ValueConversion(
          bytesDecoder: bytesDecoder, arraySeparator: arraySeparator))
    }

    /// The present value of a key, or none.
    ///
    /// - Throws: `StorageError`: `typeMismatch`, or why the value can't be read.
    public func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
      try reading.look(up: key, as: type) { (name) throws(StorageError) in
        try storage.load(Any.self, forKey: name)
      }
    }

    /// The present value of a key; holds no thread of Swift concurrency while the storage opens,
    /// reads or waits.
    ///
    /// - Throws: as ``value(forKey:type:)``.
    public func fetchValue(
      forKey key: AbsoluteConfigKey, type: ConfigType
    ) async throws -> LookupResult {
      try await Blocking.run { try self.value(forKey: key, type: type) }
    }

    /// Calls `updatesHandler` with the updates of a key's value: the present one and each later one
    /// that differs.
    ///
    /// - Throws: an error of `updatesHandler`.
    public nonisolated(nonsending) func watchValue<Return: ~Copyable>(
      forKey key: AbsoluteConfigKey, type: ConfigType,
      updatesHandler:
        nonisolated(nonsending) (
          _ updates: ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>
        ) async throws -> Return
    ) async throws -> Return {
      let name = storage.store.name(reading.naming.name(of: key))
      let updates = await Updates.of(storage, named: name) {
        Result { try self.value(forKey: key, type: type) }
      } isSame: { old, new in
        Self.isSame(old, new)
      }
      return try await updatesHandler(ConfigUpdatesAsyncSequence(updates))
    }

    /// All values of one moment; the type's documentation names the storages that can't promise
    /// that.
    public func snapshot() -> any ConfigSnapshot {
      SecureStorageSnapshot(providerName, reading, of: storage)
    }

    /// Calls `updatesHandler` with the snapshots of the storage: the present one and one after each
    /// change.
    ///
    /// - Throws: an error of `updatesHandler`.
    public nonisolated(nonsending) func watchSnapshot<Return: ~Copyable>(
      updatesHandler:
        nonisolated(nonsending) (
          _ updates: ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>
        ) async throws -> Return
    ) async throws -> Return {
      let updates = await Updates.of(storage, named: nil) {
        self.snapshot()
      } isSame: { _, _ in
        false
      }
      return try await updatesHandler(ConfigUpdatesAsyncSequence(updates))
    }

    private static func isSame(
      _ old: Result<LookupResult, any Error>, _ new: Result<LookupResult, any Error>
    ) -> Bool {
      switch (old, new) {
      case (.success(let old), .success(let new)): old == new
      case (.failure(let old as StorageError), .failure(let new as StorageError)): old == new
      default: false
      }
    }
  }

  extension SecureStorageProvider: RedactedDescription {
    /// The name, and nothing that is stored.
    public var description: String { providerName }
  }
#endif
