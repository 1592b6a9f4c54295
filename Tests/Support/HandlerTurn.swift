import Foundation

/// The turn of whoever replaces a handler that the whole process shares, and puts it back: tests of
/// several suites do, at the same time.
package enum HandlerTurn {
  private static let lock = NSRecursiveLock()

  /// Before the handler is replaced.
  package static func begin() { lock.lock() }
  /// After it was put back.
  package static func end() { lock.unlock() }
}
