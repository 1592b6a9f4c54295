internal import Glibc

/// Texts that come from the system; nothing else here makes a text of C's bytes.
enum SystemText {
  /// The text of bytes that end with a 0; nil when they are no UTF-8.
  static func exact(_ text: UnsafePointer<CChar>) -> String? {
    unsafe String(validatingCString: text)
  }

  /// A text for people to read, in a message; what is no UTF-8 shows as U+FFFD.
  static func shown(_ text: UnsafePointer<CChar>) -> String { unsafe String(cString: text) }
}

extension Failure {
  /// The text of strerror(3) for an errno.
  static func text(of number: Int32) -> String { unsafe SystemText.shown(strerror(number)) }
}
