/// When a secret can be read, as the Keychain of Apple's platforms words it.
///
/// The Secret Service locks a collection as a whole, and knows nothing of a screen's lock or of a
/// restart: that a collection is locked then is the desktop's to see to.
public enum Accessibility: String, Hashable, Sendable, CaseIterable {
  /// While the collection is unlocked.
  case whenUnlocked
  /// While the collection is unlocked, which after the first time it is until somebody locks it.
  case afterFirstUnlock
  /// As ``whenUnlocked``, and sealed to this machine: a copy of the keyring elsewhere does not open.
  case whenUnlockedThisDeviceOnly
  /// As ``afterFirstUnlock``, and sealed to this machine: a copy elsewhere does not open.
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
