/// When a secret can be read, as the Keychain of Apple's platforms words it.
///
/// The Secret Service locks a collection as a whole, and knows nothing of a screen's lock or of a
/// restart: the desktop has to lock the collection then.
///
/// `...ThisDeviceOnly` seals with a key file in the application's data folder and the machine's id,
/// unless the application gives another key. Linux has no Secure Enclave to hold the key. A copy of
/// the keyring alone does not open. A copy of the whole home folder does, for anybody who has the
/// machine's id: every program can read the id, and it is part of file names in many home folders.
/// A secret that a copy of the home folder must not open needs a key from elsewhere: give one as
/// `deviceKey`, or as the `keySource` of a storage, such as a credential that systemd decrypts with
/// a TPM.
public enum Accessibility: String, Hashable, Sendable, CaseIterable {
  /// While the collection is unlocked.
  case whenUnlocked
  /// While the collection is unlocked; once unlocked, it stays so until somebody locks it.
  case afterFirstUnlock
  /// As ``whenUnlocked``, and sealed to this machine: a copy of the keyring alone does not open.
  case whenUnlockedThisDeviceOnly
  /// As ``afterFirstUnlock``, and sealed to this machine: a copy of the keyring alone doesn't open.
  case afterFirstUnlockThisDeviceOnly
  /// Sealed to this machine, and with a passphrase that the application asks for.
  case whenPasscodeSetThisDeviceOnly

  /// Whether it is sealed to this machine.
  public var isThisDeviceOnly: Bool {
    switch self {
    case .whenUnlocked, .afterFirstUnlock: false
    case .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly,
      .whenPasscodeSetThisDeviceOnly:
      true
    }
  }
}
