import Synchronization

/// Runs `body` on another thread and waits for it, as another program would write meanwhile.
///
/// A thread that writes inside its own update or transaction is refused.
package func elsewhere(_ body: @escaping () throws -> Void) throws {
  let failure = Mutex<(any Error)?>(nil)
  // The caller waits, so that the two threads never run at the same time.
  nonisolated(unsafe) let body = body
  Threads.run(1) { _ in
    do { try unsafe body() } catch { failure.withLock { $0 = error } }
  }
  if let failure = failure.withLock({ $0 }) { throw failure }
}
