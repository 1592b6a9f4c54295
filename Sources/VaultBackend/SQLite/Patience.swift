internal import Glibc

/// How long a connection waits for other connections' locks.
final class Patience: @unchecked Sendable {
  // SQLite calls the busy handler on the thread that uses the connection, and one thread at a time
  // does.
  private var end = ContinuousClock.now
  /// The longest wait, counted from the first lock; nil after that lock, or without a limit.
  private var limit: Duration?
  private var pause = useconds_t(20)
  /// The errno of a file system without locks, once it was looked for.
  private var known: Int32??
  private let path: String?

  /// The patience of a connection to the file at a path, or to nothing that has locks.
  init(_ path: String? = nil) { self.path = path }

  /// The errno with which the file system refuses every lock, if it does.
  var refusal: Int32? {
    if let known { return known }
    let refusal = path.flatMap { LockSupport.refusal(besides: $0) }
    known = .some(refusal)
    return refusal
  }

  /// Sets the deadline `end`, and the longest wait `limit` after the first lock.
  func begin(until end: ContinuousClock.Instant, atMost limit: Duration?) {
    self.end = end
    self.limit = limit
    pause = 20
  }

  /// Waits a little.
  ///
  /// - Returns: false when the deadline has passed, or when the file system has no locks to wait
  ///   for.
  func wait() -> Bool {
    guard refusal == nil else { return false }
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
