internal import Glibc

/// How long a connection waits for others' locks.
final class Patience: @unchecked Sendable {
  // SQLite calls the busy handler on the thread that uses the connection, which one at a time does.
  var end = ContinuousClock.now
  private var pause = useconds_t(20)

  /// Waits a little.
  ///
  /// - Returns: false when the deadline has passed.
  func wait() -> Bool {
    guard ContinuousClock.now < end else {
      pause = 20
      return false
    }
    // SQLite's locks can only be tried for, again and again; the pause grows to 0.5 ms.
    usleep(pause)
    pause = min(pause * 2, 500)
    return true
  }
}
