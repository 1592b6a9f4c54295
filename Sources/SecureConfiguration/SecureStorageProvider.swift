#if Configuration
  public import CryptoCore
  public import Configuration
  public import StorageCore

  /// A provider of swift-configuration whose values are in a storage: a vault, a suite, the keyring or memory.
  ///
  ///     let config = ConfigReader(providers: [
  ///       CommandLineArgumentsProvider(), EnvironmentVariablesProvider(),
  ///       SecureStorageProvider(VaultStorage.standard),
  ///     ])
  ///     let password = try config.requiredString(forKey: "database.password")
  ///
  /// A value that can't be read is an error, and never one that is not there. Note that
  /// `config.string(forKey:)` without `required` answers nil for any error of a provider, as swift-configuration
  /// has it: read what has to be there with the required forms, or fetch it.
  ///
  /// - `value`, as `string(forKey:)` uses it, reads as a property does: from memory for a vault, a suite or
  ///   memory, and it sees every write that was done before. The keyring's first read of a value waits for its
  ///   service; use `fetch` or `watch` there, which block no thread of Swift concurrency.
  /// - `snapshot()` holds all values of one moment, whoever writes meanwhile, of a vault, a suite or memory. Of
  ///   the keyring and of delegates of your own it holds values that were read one after the other. Values stay
  ///   sealed in it until they are asked for. Making one reads all records of the storage. A snapshot that can't
  ///   be made throws the reason from each look-up.
  /// - `watchValue` and `watchSnapshot` give the current state, then each later one, and leave out those that
  ///   were replaced before the listener came to them. An error is a state too.
  ///
  /// What is stored may have another type than is asked for, where the value stays exactly the same; anything
  /// else is the error `typeMismatch`. The context of keys is not looked at.
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
  /// Texts are taken since an env file has nothing else.
  public struct SecureStorageProvider: ConfigProvider {
    /// The name in reports of access, as in `SecureStorageProvider[VaultStorage]`.
    public let providerName: String
    private let storage: any Storage
    private let reading: ValueReading

    /// A provider of the values of a storage.
    ///
    /// - Parameters:
    ///   - storage: where the values are.
    ///   - naming: how keys name values.
    ///   - secrets: which values are secret, by their names in the storage; logs and reports of access show
    ///     no secret value. All of them, unless the application says otherwise.
    ///   - bytesDecoder: how a stored text is read as bytes. Stored data is bytes as it is.
    ///   - arraySeparator: what separates the elements of a list in a stored text.
    ///   - name: further tells the provider from others, in its name.
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

    /// The value of a key as it is stored now, or none.
    ///
    /// - Throws: `StorageError`: `typeMismatch`, or why the value can't be read.
    public func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
      try reading.look(up: key, as: type) { (name) throws(StorageError) in
        try storage.load(Any.self, forKey: name)
      }
    }

    /// The same, without holding a thread of Swift concurrency while the storage waits for another program.
    ///
    /// - Throws: as ``value(forKey:type:)``.
    public func fetchValue(
      forKey key: AbsoluteConfigKey, type: ConfigType
    ) async throws -> LookupResult {
      guard storage.store.asksOthers else { return try value(forKey: key, type: type) }
      return try await Blocking.run { try self.value(forKey: key, type: type) }
    }

    /// Gives `updatesHandler` the value of a key now, and each later one that differs.
    ///
    /// - Throws: what `updatesHandler` throws.
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

    /// All values of one moment; the type's documentation says where it is several.
    public func snapshot() -> any ConfigSnapshot {
      SecureStorageSnapshot(providerName, reading, of: storage)
    }

    /// Gives `updatesHandler` all values of now, and those after each change.
    ///
    /// - Throws: what `updatesHandler` throws.
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
