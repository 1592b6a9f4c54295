internal import Glibc

/// How long a connection waits for other connections' locks.
final class Patience: @unchecked Sendable {
  // SQLite calls the busy handler on the thread that uses the connection, and one thread at a time
  // does.
  private var end = ContinuousClock.now
  /// The longest wait, counted from the first lock; nil after that lock, or without a limit.
  private var limit: Duration?
  private var pause = useconds_t(20)

  /// Sets the deadline `end`, and the longest wait `limit` after the first lock.
  func begin(until end: ContinuousClock.Instant, atMost limit: Duration?) {
    self.end = end
    self.limit = limit
    pause = 20
  }

  /// Waits a little.
  ///
  /// - Returns: false when the deadline has passed.
  func wait() -> Bool {
    let now = ContinuousClock.now
    if let limit {
      end = min(end, now + limit)
      self.limit = nil
    }
    guard now < end else { return false }
    // SQLite's locks can only be tried for, again and again; the pause grows to 0.5 ms.
    usleep(pause)
    pause = min(pause * 2, 500)
    return true
  }
}
