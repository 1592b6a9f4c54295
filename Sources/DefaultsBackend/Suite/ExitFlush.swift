internal import CryptoCore
internal import Glibc
internal import StorageCore

/// Writes pending writes to disk when the process exits.
enum ExitFlush {
  /// The process that owns the pending writes.
  private static let process: OwnProcess = {
    _ = atexit { flush() }
    return OwnProcess()
  }()

  /// Makes exit(3) flush pending writes.
  ///
  /// _exit(2) and a signal that kills the process don't flush.
  static func register() {
    _ = process
  }

  /// Writes the pending writes of every suite.
  static func flush() {
    // A child of fork(2) inherits the handler and a copy of the writes, which the parent writes
    // itself. Here they might undo newer ones. The child may also have inherited locks that nobody
    // unlocks.
    guard process.isCurrent else { return }
    for suite in SuiteRegistry.all {
      do throws(StorageError) {
        try suite.writePending(waiting: DefaultsDelegate.standardDeadline)
      } catch {
        StorageDiagnostics.report(error)
      }
    }
  }
}
