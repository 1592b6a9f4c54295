/// Texts of C libraries, all of which are UTF-8: of D-Bus, GLib and mkdtemp(3).
enum SystemText {
  /// The text of bytes that end with a 0.
  static func shown(_ text: UnsafePointer<CChar>) -> String { unsafe String(cString: text) }
}
