#if Keyring
  internal import KeyringBackend
  internal import StorageCore

  /// The desktop's keyring, where the program was built with it.
  enum KeyringChoice {
    /// The storage of a service; one that is bound to this machine is a store of its own.
    static func storage(
      of service: String, isOfDevice: Bool, keySource: KeySource, bus: String?
    ) -> DelegatedStorage {
      KeychainStorage(
        service: isOfDevice ? service + " (this device)" : service,
        accessible: isOfDevice ? .afterFirstUnlockThisDeviceOnly : .whenUnlocked,
        keySource: keySource.isAutomatic ? nil : keySource, access: KeyringAccess(bus: bus))
    }

    /// Whether a service answers on the session's bus, locked or not.
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
