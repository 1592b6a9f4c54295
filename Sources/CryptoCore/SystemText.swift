/// Texts that come from the system or from a C library.
///
/// `String(cString:)` puts U+FFFD in place of bytes that are no UTF-8, so two paths may become one.
package enum SystemText {
  /// The text of bytes that end with a 0; nil when they are no UTF-8.
  package static func exact(_ text: UnsafePointer<CChar>) -> String? {
    unsafe String(validatingCString: text)
  }

  /// The text of bytes; nil when they are no UTF-8.
  package static func exact(_ bytes: some Collection<UInt8>) -> String? {
    String(validating: bytes, as: UTF8.self)
  }

  /// A text for people to read, in a message; what is no UTF-8 shows as U+FFFD.
  package static func shown(_ text: UnsafePointer<CChar>) -> String {
    unsafe String(cString: text)
  }
}
