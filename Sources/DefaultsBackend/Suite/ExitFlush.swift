internal import CryptoCore
internal import Glibc
internal import StorageCore

/// Writes what is pending when the process exits.
enum ExitFlush {
  private static let isRegistered: Bool = atexit { flush() } == 0

  /// Has pending writes flushed by exit(3).
  ///
  /// Not by _exit(2), and not when a signal kills.
  static func register() {
    _ = isRegistered
  }

  private static func flush() {
    for suite in SuiteRegistry.all {
      do throws(StorageError) {
        try suite.flush(waiting: DefaultsDelegate.standardDeadline)
      } catch {
        StorageDiagnostics.report(error)
      }
    }
  }
}
