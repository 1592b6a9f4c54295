internal import Glibc

extension Failure {
  /// What errno says, in words.
  static func text(of number: Int32) -> String {
    unsafe String(cString: strerror(number))
  }
}
