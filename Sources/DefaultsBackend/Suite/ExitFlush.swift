internal import CryptoCore
internal import Glibc
internal import StorageCore

/// Writes what is pending when the process exits.
enum ExitFlush {
  /// The process whose writes these are.
  private static let process: pid_t = {
    _ = atexit { flush() }
    return getpid()
  }()

  /// Has pending writes flushed by exit(3).
  ///
  /// Not by _exit(2), and not when a signal kills.
  static func register() {
    _ = process
  }

  /// Writes what is pending in every suite.
  static func flush() {
    // A child of fork(2) inherits the handler and a copy of the writes, which the parent makes
    // itself: here they might undo newer ones. And it may have inherited locks that nobody opens.
    guard getpid() == process else { return }
    for suite in SuiteRegistry.all {
      do throws(StorageError) {
        try suite.writePending(waiting: DefaultsDelegate.standardDeadline)
      } catch {
        StorageDiagnostics.report(error)
      }
    }
  }
}
