#if Keyring
  internal import KeyringBackend
  internal import StorageCore

  extension VaultPlace {
    /// The deadline and prompt settings for calls to the keyring.
    var keyringAccess: KeyringAccess {
      KeyringAccess(
        deadline: keyringDeadline, prompts: mayPrompt ? .ifInteractive : .never,
        allowsPlainKeys: Environment.value("SECURESTORE_ALLOW_PLAIN_BUS") == "1")
    }

    /// The key of that name in the keyring.
    func keyring(_ name: String) throws -> KeySource { .keyring(name, access: keyringAccess) }

    /// The systemd credential, else the keyring, else the key file.
    func desktop() throws -> KeySource { .desktop(access: keyringAccess) }
  }
#endif
