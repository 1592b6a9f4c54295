#if Server
  public import DefaultsBackend
  public import StorageCore
  public import VaultBackend

  /// A storage that a ``StorageService`` opens, checks and closes.
  public struct ManagedStore: Sendable {
    /// The name of the store in logs, metrics and errors.
    ///
    /// Not a secret.
    public let name: String
    /// The storage.
    public let storage: DelegatedStorage
    private let existence: StoreExistence
    private let verify: @Sendable () throws(StorageError) -> Void
    private let look: @Sendable () throws(StorageError) -> Void
    private let end: @Sendable () throws(StorageError) -> Void

    /// Manages a vault.
    ///
    /// - Parameters:
    ///   - storage: the vault, such as `VaultStorage.standard`.
    ///   - name: the name of the store.
    ///   - existence: whether a missing vault is created at the start. With `.mustExist` a disk
    ///     that is not mounted is an error at the start. A vault that vanishes later is
    ///     `unavailable` in either case.
    ///   - verifies: whether the start checks each record, as `VaultStorage.verify` does; this
    ///     reads and opens the whole vault. A vault that is not sound is then an error at the
    ///     start.
    /// - Returns: the store.
    public static func vault(
      _ storage: VaultStorage, named name: String = "vault",
      existence: StoreExistence = .madeIfMissing, verifies: Bool = false
    ) -> ManagedStore {
      ManagedStore(name, storage, existence) { () throws(StorageError) in
        guard verifies else { return }
        let report = try storage.verify()
        guard report.isSound else {
          throw StorageError(
            .damaged,
            "the verification found \(report.findings.count) kinds of damage: run `securestore verify`, then "
              + "repair the vault or restore a backup")
        }
      } look: { () throws(StorageError) in
        try storage.look()
        try storage.store.openKeys()
      } end: { () throws(StorageError) in
        try storage.letGo()
      }
    }

    /// Manages a suite.
    ///
    /// - Parameters:
    ///   - storage: the suite.
    ///   - name: the name of the store.
    ///   - existence: whether a missing suite is created at the start.
    /// - Returns: the store.
    public static func defaults(
      _ storage: UserDefaultsStorage, named name: String = "defaults",
      existence: StoreExistence = .madeIfMissing
    ) -> ManagedStore {
      .storage(storage, named: name, existence: existence)
    }

    /// Manages any other storage, such as the keychain or one in memory.
    ///
    /// - Parameters:
    ///   - storage: the storage.
    ///   - name: the name of the store.
    ///   - existence: whether a missing store is created at the start.
    /// - Returns: the store.
    public static func storage(
      _ storage: DelegatedStorage, named name: String, existence: StoreExistence = .madeIfMissing
    ) -> ManagedStore {
      ManagedStore(name, storage, existence) { () throws(StorageError) in
      } look: { () throws(StorageError) in
        try storage.store.openKeys()
      } end: { () throws(StorageError) in
      }
    }

    private init(
      _ name: String, _ storage: DelegatedStorage, _ existence: StoreExistence,
      verify: @escaping @Sendable () throws(StorageError) -> Void,
      look: @escaping @Sendable () throws(StorageError) -> Void,
      end: @escaping @Sendable () throws(StorageError) -> Void
    ) {
      self.name = name
      self.storage = storage
      self.existence = existence
      self.verify = verify
      self.look = look
      self.end = end
    }

    /// Opens the store, and verifies it if that was requested.
    func open() async throws(StorageError) {
      try await Blocking.run { () throws(StorageError) in
        try storage.open(existence)
        try requireFromNowOn()
        try verify()
      }
    }

    /// Makes a store that vanishes while the service runs an error, and no empty store.
    private func requireFromNowOn() throws(StorageError) {
      do throws(StorageError) {
        try storage.open(.mustExist)
      } catch {
        // A place without a header can't vanish.
        guard error.code == .unsupported else { throw error }
      }
    }

    /// Checks that the store can be read; reads the place and not only memory.
    func check() async throws(StorageError) { try await Blocking.run(look) }

    /// Writes everything to disk, and closes the files.
    func close() async throws(StorageError) { try await Blocking.run(end) }
  }
#endif
