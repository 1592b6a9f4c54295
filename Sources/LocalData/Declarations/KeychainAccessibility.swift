/// When a value of the keychain can be read, in the terms of Apple's Keychain.
///
/// Which of these are supported depends on where the keychain's values are, see
/// ``StorageConfiguration/keychain``. A keyring of the desktop is locked and unlocked as a whole. A
/// vault is never locked: anyone who has its key can read it.
public enum KeychainAccessibility: String, Hashable, Sendable, CaseIterable {
  /// Only while the keyring is unlocked; a vault does not support this.
  case whenUnlocked
  /// From the first unlocking until a restart.
  case afterFirstUnlock
  /// Like ``whenUnlocked``; in addition, a copy of only the keyring does not open on another
  /// machine.
  case whenUnlockedThisDeviceOnly
  /// Like ``afterFirstUnlock``; in addition, a copy of only the keyring or the vault does not open
  /// on another machine.
  ///
  /// The key is in another file of this machine, or in a credential; a copy of the home folder has
  /// both.
  case afterFirstUnlockThisDeviceOnly
  /// Always; a keyring does not support this, since it can be locked.
  case always
  /// Like ``always``; in addition, a copy of only the vault does not open on another machine.
  case alwaysThisDeviceOnly
  /// With a passcode that the application asks for; a copy alone does not open on another machine.
  case whenPasscodeSetThisDeviceOnly

  /// Whether it is bound to this machine.
  public var isThisDeviceOnly: Bool {
    switch self {
    case .whenUnlocked, .afterFirstUnlock, .always: false
    default: true
    }
  }
}
