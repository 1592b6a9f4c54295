internal import Glibc

extension Failure {
  /// The text of strerror(3) for an errno.
  static func text(of number: Int32) -> String {
    unsafe String(cString: strerror(number))
  }
}
