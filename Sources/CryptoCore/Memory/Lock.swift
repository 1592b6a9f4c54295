internal import Glibc

/// A value behind a mutex.
///
/// `pthread_mutex`, because Thread Sanitizer reports false races on `Synchronization.Mutex`. Hold
/// it for memory work only: no I/O and no caller's code inside `body`. A child of fork(2) has it as
/// it was: held for ever, if it was by another thread. It can't be opened there, since the value
/// may be half changed; what has to work in such a child takes no lock, or one that the fork waits
/// for.
@safe @usableFromInline
package final class Lock<Value>: @unchecked Sendable {
  // Both are touched only between lock and unlock of `mutex`. The value is behind a pointer, where
  // the compiler adds no check of exclusive access of its own.
  @usableFromInline let mutex: MutexPointer
  @usableFromInline let value: UnsafeMutablePointer<Value>

  /// A lock around `value`.
  package init(_ value: sending Value) {
    mutex = MutexPointer()
    unsafe self.value = .allocate(capacity: 1)
    unsafe self.value.initialize(to: value)
  }

  deinit {
    mutex.destroy()
    unsafe value.deinitialize(count: 1)
    unsafe value.deallocate()
  }

  /// Takes the lock without the value; for the handlers of pthread_atfork(3) alone.
  func lock() { mutex.lock() }

  /// Gives back what ``lock()`` took.
  func unlock() { mutex.unlock() }

  /// Runs `body` with the value, alone.
  // Inlinable, because a generic call to another module costs more than the mutex: `make bench`
  // shows it in every read of the in-memory storage.
  @inlinable @inline(__always)
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    mutex.lock()
    defer { mutex.unlock() }
    return try unsafe body(&value.pointee)
  }

  /// The same, and calls `check` from time to time while another thread has the lock.
  ///
  /// - Throws: what `check` throws, without the lock, or what `body` throws.
  package func withLock<Result, Failure: Error>(
    waiting check: () throws(Failure) -> Void, _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    while !mutex.tryLock() {
      if mutex.lock(withinMilliseconds: 50) { break }
      try check()
    }
    defer { mutex.unlock() }
    return try unsafe body(&value.pointee)
  }
}

/// A mutex at an address that does not change, for `Lock` alone.
///
/// Not generic, so that inlined code needs no C module.
@safe @usableFromInline
struct MutexPointer: @unchecked Sendable {
  // A mutex is there to be used by many threads.
  private let pointer: UnsafeMutablePointer<pthread_mutex_t>

  init() {
    unsafe pointer = .allocate(capacity: 1)
    unsafe pointer.initialize(to: pthread_mutex_t())
    let result = unsafe pthread_mutex_init(pointer, nil)
    precondition(result == 0, "pthread_mutex_init failed")
  }

  func destroy() {
    unsafe pthread_mutex_destroy(pointer)
    unsafe pointer.deallocate()
  }

  /// Takes the mutex if nobody has it.
  ///
  /// - Returns: whether it was taken.
  func tryLock() -> Bool { unsafe pthread_mutex_trylock(pointer) == 0 }

  /// Takes the mutex, and waits for it for a short time at most.
  ///
  /// - Returns: whether it was taken.
  func lock(withinMilliseconds limit: Int) -> Bool {
    // pthread_mutex_timedlock(3) takes a time of day. The wait is short, so that a clock that is
    // set meanwhile makes no long one.
    var end = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &end)
    end.tv_nsec += limit * 1_000_000
    end.tv_sec += end.tv_nsec / 1_000_000_000
    end.tv_nsec %= 1_000_000_000
    return unsafe pthread_mutex_timedlock(pointer, &end) == 0
  }

  @usableFromInline func lock() { unsafe pthread_mutex_lock(pointer) }

  @usableFromInline func unlock() { unsafe pthread_mutex_unlock(pointer) }
}
