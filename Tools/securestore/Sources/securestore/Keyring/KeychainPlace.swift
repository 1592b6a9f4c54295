#if Keyring
  internal import KeyringBackend
  internal import StorageCore

  /// The sealed store of an application in the desktop's keyring, which `@Keychain` uses.
  struct KeychainPlace {
    private let application: String
    private let access: KeyringAccess

    init(application: String, _ place: VaultPlace) throws {
      self.application = application
      access = place.keyringAccess
    }

    /// The slots of the store, or none if it does not exist; needs no key.
    func slots() throws -> [KeySlot] {
      try storage(.firstAvailable([])).keyAdministration.slots()
    }

    /// The store.
    ///
    /// - Parameters:
    ///   - slots: the slots of the store.
    ///   - choice: the key source that the operator chose; nil for the keys that the store names.
    ///   - other: the source to use if the store names no key of the keyring or of this machine.
    /// - Returns: the store, not yet opened.
    /// - Throws: what the store can't be made for.
    func storage(
      _ slots: [KeySlot], choice: KeySource?, otherwise other: KeySource
    ) throws -> KeychainStorage {
      if let choice { return storage(choice) }
      let names = slots.filter { $0.kind == KeySlot.keyringKind }.map(\.identifier)
      guard names.isEmpty else {
        return storage(.firstAvailable(names.map { .keyring($0, access: access) }))
      }
      let isOfDevice = slots.contains { $0.kind == "file" && $0.identifier == "device.key" }
      guard !isOfDevice else {
        return try KeychainStorage(
          service: application, accessible: .whenUnlockedThisDeviceOnly, access: access)
      }
      return storage(other)
    }

    private func storage(_ source: KeySource) -> KeychainStorage {
      KeychainStorage(service: application, keySource: source, access: access)
    }
  }
#endif
