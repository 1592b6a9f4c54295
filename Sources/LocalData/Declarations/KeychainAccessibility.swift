/// When a value of the keychain can be read, as the Keychain of Apple's platforms words it.
///
/// Which of them can be had depends on where the keychain's values are, see
/// ``StorageConfiguration/keychain``. A keyring of the desktop is locked and unlocked as a whole. A vault
/// is never locked: whoever has its key reads it.
public enum KeychainAccessibility: String, Hashable, Sendable, CaseIterable {
  /// While the keyring is unlocked; a vault can't promise that.
  case whenUnlocked
  /// From the first unlocking until a restart.
  case afterFirstUnlock
  /// As ``whenUnlocked``, and a copy of the keyring alone does not open on another machine.
  case whenUnlockedThisDeviceOnly
  /// As ``afterFirstUnlock``, and a copy of the keyring or the vault alone does not open elsewhere.
  ///
  /// The key is in another file of this machine, or a credential; a copy of the home folder has both.
  case afterFirstUnlockThisDeviceOnly
  /// Always; a keyring, which can be locked, can't promise that.
  case always
  /// As ``always``, and a copy of the vault alone does not open elsewhere.
  case alwaysThisDeviceOnly
  /// With a passcode that the application asks for, and a copy alone does not open elsewhere.
  case whenPasscodeSetThisDeviceOnly

  /// Whether it is bound to this machine.
  public var isThisDeviceOnly: Bool {
    switch self {
    case .whenUnlocked, .afterFirstUnlock, .always: false
    default: true
    }
  }
}
