internal import Glibc

/// A mutex, beside the state that it guards.
///
/// It is a `pthread_mutex`, because Thread Sanitizer reports false races on
/// `Synchronization.Mutex`. The module has a lock of its own, because it depends on no other
/// module. The lock is held for memory work only: no caller's code runs under it.
@safe @usableFromInline
final class InjectLock: @unchecked Sendable {
  // Many threads may use a mutex.
  fileprivate let mutex: UnsafeMutablePointer<pthread_mutex_t>

  init() {
    unsafe mutex = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    let result = unsafe pthread_mutex_init(mutex, nil)
    precondition(result == 0, "pthread_mutex_init failed")
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  @usableFromInline func lock() { unsafe pthread_mutex_lock(mutex) }

  @usableFromInline func unlock() { unsafe pthread_mutex_unlock(mutex) }

  /// Runs `body`, alone.
  func withLock<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock()
    defer { unlock() }
    return try body()
  }
}

/// A condition that threads wait for while they hold an ``InjectLock``.
@safe
final class InjectCondition: @unchecked Sendable {
  // Many threads may use a condition.
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  init() {
    unsafe condition = .allocate(capacity: 1)
    unsafe condition.initialize(to: pthread_cond_t())
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    // If the wait used the settable clock, setting it would wake or hold the waiting threads.
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    let result = unsafe pthread_cond_init(condition, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
    precondition(result == 0, "pthread_cond_init failed")
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe condition.deallocate()
  }

  func wakeAll() { unsafe pthread_cond_broadcast(condition) }

  /// Releases the lock, sleeps, and takes the lock again; may return early.
  func wait(_ lock: InjectLock) { unsafe pthread_cond_wait(condition, lock.mutex) }

  /// The same, until a deadline at the latest.
  ///
  /// - Returns: false when the deadline has passed.
  func wait(_ lock: InjectLock, until deadline: Deadline) -> Bool {
    var time = deadline.time
    return unsafe pthread_cond_timedwait(condition, lock.mutex, &time) != ETIMEDOUT
  }
}

/// A moment of the monotonic clock.
struct Deadline {
  fileprivate let time: timespec

  /// The moment that is `duration` away.
  init(in duration: Duration) {
    var now = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    let (seconds, attoseconds) = duration.components
    let nanoseconds = now.tv_nsec + Int(attoseconds / 1_000_000_000)
    time = timespec(
      tv_sec: now.tv_sec + Int(min(seconds, 1 << 32)) + nanoseconds / 1_000_000_000,
      tv_nsec: nanoseconds % 1_000_000_000)
  }
}
