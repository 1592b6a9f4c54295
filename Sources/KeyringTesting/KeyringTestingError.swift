internal import CLibsecret

/// Why a bus, a daemon or a call of the test kit did not work.
public struct KeyringTestingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What happened, for a person.
  public let description: String

  /// The name of the D-Bus error, when a service answered with one.
  public let errorName: String?

  init(_ description: String, errorName: String? = nil) {
    self.description = description
    self.errorName = errorName
  }

  /// Takes the message of a GLib error, and frees the error.
  init(taking error: UnsafeMutablePointer<GError>?) {
    guard let error = unsafe error else {
      self.init("it failed without an error")
      return
    }
    defer { unsafe g_error_free(error) }
    let name = unsafe g_dbus_error_get_remote_error(error)
    defer { unsafe g_free(name) }
    unsafe self.init(
      SystemText.shown(error.pointee.message), errorName: name.map { unsafe SystemText.shown($0) })
  }
}
