/// What reading a value of the keychain needs besides, as the Keychain of Apple's platforms words it.
///
/// There is no biometry here: what a finger or a face alone may open is the error `unsupported`. A
/// passcode is asked for by the application, see ``StorageRouter/registerPasscode(_:)``, and the value
/// is sealed under it.
public enum KeychainAccessControl: String, Hashable, Sendable, CaseIterable {
  /// That somebody is there, by whatever means: here the passcode.
  case userPresence
  /// A finger or a face: `unsupported`.
  case biometryAny
  /// A finger or a face that is enrolled now: `unsupported`.
  case biometryCurrentSet
  /// The passcode.
  case devicePasscode
  /// A finger or a face, or else the passcode: here the passcode.
  case biometryAnyOrDevicePasscode
  /// A finger or a face that is enrolled now, or else the passcode: here the passcode.
  case biometryCurrentSetOrDevicePasscode

  /// Whether the passcode is enough.
  var takesPasscode: Bool { self != .biometryAny && self != .biometryCurrentSet }
}
