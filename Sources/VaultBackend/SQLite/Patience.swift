internal import Glibc

/// How long a connection waits for others' locks.
final class Patience: @unchecked Sendable {
  // SQLite calls the busy handler on the thread that uses the connection, which one at a time does.
  private var end = ContinuousClock.now
  /// How long to wait at most, from the first lock that is met; nil once that was, or without a
  /// limit.
  private var limit: Duration?
  private var pause = useconds_t(20)

  /// From now on waits until `end`, and no longer than `limit` after the first lock that is met.
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
