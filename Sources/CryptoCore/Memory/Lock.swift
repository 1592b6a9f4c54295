internal import Glibc

/// A value behind a mutex.
///
/// `pthread_mutex`, because Thread Sanitizer reports false races on `Synchronization.Mutex`.
/// Hold it for memory work only: no I/O and no caller's code inside `body`.
@safe
package final class Lock<Value>: @unchecked Sendable {
  // Both are touched only between lock and unlock of `mutex`.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var value: Value

  /// A lock around `value`.
  package init(_ value: sending Value) {
    unsafe mutex = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    let result = unsafe pthread_mutex_init(mutex, nil)
    precondition(result == 0, "pthread_mutex_init failed")
    self.value = value
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  /// Takes the lock without the value; for the handlers of pthread_atfork(3) alone.
  func lock() { unsafe pthread_mutex_lock(mutex) }

  /// Gives back what ``lock()`` took.
  func unlock() { unsafe pthread_mutex_unlock(mutex) }

  /// Runs `body` with the value, alone.
  @inline(__always)
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try body(&value)
  }
}
