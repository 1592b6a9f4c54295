internal import CLibsecret
internal import StorageCore

/// Why a call over the bus failed: the error, and the kind that decides about a retry.
struct BusFailure: Error {
  /// The kind of failure, for callers that can recover.
  enum Kind {
    /// The service or the bus went away; a new connection may help.
    case connectionLost
    /// The two sides have different keys for this session; a new connection helps.
    case foreignKey
    /// The object does not exist, or no longer exists.
    case noObject
    /// The service refuses the arguments, such as an object that does not exist.
    case invalidArguments
    /// The failure can only be reported.
    case other
  }

  let kind: Kind
  let error: StorageError

  init(_ kind: Kind = .other, _ error: StorageError) {
    self.kind = kind
    self.error = error
  }

  init(_ code: StorageError.Code, _ message: String, number: Int? = nil) {
    self.init(.other, StorageError(code, message, number: number))
  }
}

extension BusFailure {
  /// The error for the caller if the service had already made a change.
  var afterWriting: StorageError {
    guard error.code != .outcomeUnknown else { return error }
    return StorageError(
      .outcomeUnknown,
      "the keyring service made a change, but the next step failed (\(error.code): "
        + "\(error.message)); look at what is stored before you try again")
  }

  /// Makes a failure of a GError, and frees the GError.
  ///
  /// The service's own message is not passed on: it may contain anything.
  init(adopting error: UnsafeMutablePointer<GError>?, of method: String, isOutOfTime: Bool) {
    guard let error = unsafe error else {
      self.init(.io, "\(method) failed, and no reason was given")
      return
    }
    defer { unsafe g_error_free(error) }
    let (domain, code) = unsafe (error.pointee.domain, Int(error.pointee.code))
    // GLib also puts remote errors without a code of its own into the I/O domain.
    if let remote = unsafe g_dbus_error_get_remote_error(error) {
      self.init(remote: unsafe SystemText.shown(remote), of: method, number: code)
      unsafe g_free(remote)
    } else if domain == sps_io_error() {
      self.init(ioError: code, of: method, isOutOfTime: isOutOfTime)
    } else {
      self.init(.io, "\(method) failed", number: code)
    }
  }

  private init(ioError code: Int, of method: String, isOutOfTime: Bool) {
    switch code {
    case Int(G_IO_ERROR_TIMED_OUT.rawValue):
      self = .outOfTime(method)
    case Int(G_IO_ERROR_CANCELLED.rawValue):
      self =
        isOutOfTime
        ? .outOfTime(method) : BusFailure(.cancelled, "\(method) was cancelled by the program")
    case Int(G_IO_ERROR_CLOSED.rawValue), Int(G_IO_ERROR_BROKEN_PIPE.rawValue),
      Int(G_IO_ERROR_NOT_CONNECTED.rawValue):
      self.init(
        .connectionLost,
        StorageError(
          .noBus,
          "the session bus closed the connection; see whether the bus still runs, then try again"))
    case Int(G_IO_ERROR_INVALID_ARGUMENT.rawValue):
      self.init(.damaged, "\(method): the keyring service answered with data of the wrong type")
    default:
      self.init(.io, "\(method) failed during transport; try again", number: code)
    }
  }

  /// The time ran out.
  static func outOfTime(_ method: String) -> BusFailure {
    BusFailure(
      .timedOut,
      "\(method) had no answer within the deadline; see whether the keyring waits for the user, "
        + "then try again")
  }

  /// A secret was not encrypted for this session, as either side may find.
  static let foreignKey = BusFailure(
    .foreignKey,
    StorageError(
      .damaged, "a secret that crossed the bus was not encrypted for this session; try again"))

  private init(remote name: String, of method: String, number: Int) {
    switch name {
    case "org.freedesktop.Secret.Error.IsLocked":
      self.init(.locked, "the collection is locked; unlock it and try again")
    case "org.freedesktop.Secret.Error.NoSuchObject",
      "org.freedesktop.DBus.Error.UnknownObject", "org.freedesktop.DBus.Error.UnknownMethod",
      "org.freedesktop.DBus.Error.UnknownInterface":
      self.init(
        .noObject,
        StorageError(
          .io, "\(method): the keyring service has no such object; search for it again"))
    case "org.freedesktop.Secret.Error.NoSession",
      "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Disconnected":
      self.init(
        .connectionLost,
        StorageError(
          .noService, "\(method): the keyring service stopped during the call; try again"))
    case "org.freedesktop.DBus.Error.ServiceUnknown",
      "org.freedesktop.DBus.Error.NameHasNoOwner":
      self.init(.connectionLost, .noService)
    case let name where name.hasPrefix("org.freedesktop.DBus.Error.Spawn."):
      self.init(.other, .noService)
    case "org.qtproject.QtDBus.Error.InvalidObjectPath" where method == "CreateItem":
      // KWallet says "Can't find session" for a secret that it can't decrypt.
      self = .foreignKey
    case "org.freedesktop.DBus.Error.InvalidArgs" where method == "OpenSession":
      self.init(
        .io,
        "\(method): the keyring service could not agree on a key for this session; KWallet needs "
          + "the package libqca-qt5-2-plugins for it", number: number)
    case "org.freedesktop.DBus.Error.InvalidArgs":
      // KeePassXC sends this for an attribute that it reserves, and for a reference in an
      // attribute.
      self.init(
        .invalidArguments,
        StorageError(
          .invalid,
          "\(method): the keyring service refuses an attribute, the label or the name of a "
            + "collection; change it", number: number))
    case "org.freedesktop.DBus.Error.Timeout", "org.freedesktop.DBus.Error.TimedOut":
      self = .outOfTime(method)
    case "org.freedesktop.DBus.Error.AccessDenied", "org.freedesktop.DBus.Error.AuthFailed":
      self.init(
        .denied,
        "\(method): the bus or the keyring service does not allow this program to make this call")
    case "org.freedesktop.DBus.Error.NotSupported":
      self.init(.unsupported, "\(method): the keyring service does not offer this")
    case "org.freedesktop.DBus.Error.NoMemory", "org.freedesktop.DBus.Error.LimitsExceeded":
      self.init(.full, "\(method): the bus or the keyring service has no room for this")
    default:
      let shown = name.isEmpty ? "an error without a name" : name
      self.init(.io, "\(method): the keyring service answered \(shown)", number: number)
    }
  }
}

extension StorageError {
  /// No Secret Service on the bus.
  static let noService = StorageError(
    .noService,
    "no keyring service runs on the session bus; start gnome-keyring, KeePassXC or KWallet")
}
