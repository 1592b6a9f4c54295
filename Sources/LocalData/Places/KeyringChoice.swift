#if Keyring
  internal import KeyringBackend
  internal import StorageCore

  /// The desktop's keyring, if the program was built with it.
  enum KeyringChoice {
    /// The storage of a service; values that are bound to this machine have a store of their own.
    static func storage(
      of service: String, isOfDevice: Bool, keySource: KeySource, bus: String?
    ) throws(StorageError) -> DelegatedStorage {
      try KeychainStorage(
        service: isOfDevice ? service + " (this device)" : service,
        accessible: isOfDevice ? .afterFirstUnlockThisDeviceOnly : .whenUnlocked,
        keySource: keySource.isAutomatic ? nil : keySource, access: KeyringAccess(bus: bus))
    }

    /// Whether a keyring service, locked or not, answers on the session bus.
    static func isThere(bus: String?) -> Bool {
      let storage = KeychainStorage(service: "LocalData.probe", access: KeyringAccess(bus: bus))
      do throws(StorageError) {
        _ = try storage.contains("probe")
        return true
      } catch {
        return ![.noBus, .noService, .noCollection, .unavailable].contains(error.code)
      }
    }
  }
#endif
