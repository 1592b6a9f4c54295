/// The extra condition for reading a value of the keychain, in the terms of Apple's Keychain.
///
/// There is no biometry on Linux: a value that only a finger or a face may open fails with
/// `unsupported`. The application asks for a passcode, see ``StorageRouter/registerPasscode(_:)``,
/// and the value is sealed under it.
public enum KeychainAccessControl: String, Hashable, Sendable, CaseIterable {
  /// The user must be present, proven by any means; here by the passcode.
  case userPresence
  /// A finger or a face: `unsupported`.
  case biometryAny
  /// A finger or a face from the present enrolment: `unsupported`.
  case biometryCurrentSet
  /// The passcode.
  case devicePasscode
  /// A finger or a face, or else the passcode; here always the passcode.
  case biometryAnyOrDevicePasscode
  /// A finger or a face from the present enrolment, or else the passcode; here always the passcode.
  case biometryCurrentSetOrDevicePasscode

  /// Whether the passcode is enough.
  var takesPasscode: Bool { self != .biometryAny && self != .biometryCurrentSet }
}
