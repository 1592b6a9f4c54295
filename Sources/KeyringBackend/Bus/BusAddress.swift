internal import Glibc
internal import StorageCore

/// Where the session bus is.
enum BusAddress {
  /// The address that the environment gives: `DBUS_SESSION_BUS_ADDRESS`, else the socket `bus` in
  /// `XDG_RUNTIME_DIR`, as systemd makes it.
  ///
  /// It never starts a bus, as dbus-launch(1) would: no other program would be on that bus.
  ///
  /// - Throws: `noBus` when neither exists.
  static func ofSession() throws(StorageError) -> String {
    if let address = try StandardFolders.environment("DBUS_SESSION_BUS_ADDRESS") { return address }
    if let folder = try StandardFolders.environment("XDG_RUNTIME_DIR"), folder.hasPrefix("/") {
      let path = folder + "/bus"
      var status = stat()
      if unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK {
        return "unix:path=" + escaped(path)
      }
    }
    throw StorageError(
      .noBus,
      "no session bus was found: DBUS_SESSION_BUS_ADDRESS is not set, and XDG_RUNTIME_DIR is not set or "
        + "contains no bus socket. Run it in a desktop session. Where there is none, as on a server, there "
        + "is no keyring: keep the values in a vault, with a key file or a credential")
  }

  /// Escapes all bytes of a value that the D-Bus specification, "Server addresses", does not allow
  /// as they are.
  private static func escaped(_ path: String) -> String {
    var text = ""
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
        UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: "."), UInt8(ascii: "*"):
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = Array("0123456789abcdef".unicodeScalars)
        text.unicodeScalars.append(
          contentsOf: ["%", digits[Int(byte >> 4)], digits[Int(byte & 15)]])
      }
    }
    return text
  }
}
