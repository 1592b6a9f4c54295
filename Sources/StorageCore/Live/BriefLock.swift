internal import Glibc

/// A value behind a spin lock, for copies of a few words: half as expensive as a mutex.
///
/// Hold it for memory work only, and run no code of a user inside.
@safe @usableFromInline
// Unchecked, because pointers are not Sendable. The value is touched only under the lock.
struct BriefLock<Value: Sendable>: ~Copyable, @unchecked Sendable {
  @usableFromInline let gate: SpinGate
  @usableFromInline let value: UnsafeMutablePointer<Value>

  init(_ value: Value) {
    gate = SpinGate()
    unsafe self.value = .allocate(capacity: 1)
    unsafe self.value.initialize(to: value)
  }

  deinit {
    gate.free()
    unsafe value.deinitialize(count: 1)
    unsafe value.deallocate()
  }

  @inlinable @inline(__always)
  borrowing func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    gate.enter()
    defer { gate.leave() }
    return unsafe body(&value.pointee)
  }
}

/// A `pthread_spinlock_t` at an address that does not change.
///
/// Not an atomic flag: the compiler may put off the counting of a reference until after the store
/// that clears a flag. A function of the C library may do anything, so what a caller does stays
/// between the two calls.
@safe @usableFromInline
// Unchecked, because pointers are not Sendable. What it points to is for all threads, by pthread_spin_lock(3).
struct SpinGate: @unchecked Sendable {
  private let lock: UnsafeMutablePointer<Int32>

  init() {
    unsafe lock = .allocate(capacity: 1)
    let result = unsafe pthread_spin_init(lock, Int32(PTHREAD_PROCESS_PRIVATE))
    precondition(result == 0, "pthread_spin_init failed with errno \(result)")
  }

  func free() { unsafe lock.deallocate() }

  @usableFromInline
  func enter() {
    if unsafe pthread_spin_trylock(lock) != 0 { wait() }
  }

  @inline(never)
  private func wait() {
    var rounds = 0
    while unsafe pthread_spin_trylock(lock) != 0 {
      rounds += 1
      // A thread of a lower priority that was suspended with the lock runs only while this one
      // sleeps.
      if rounds < 100 { sched_yield() } else { usleep(50) }
    }
  }

  @usableFromInline
  func leave() { unsafe pthread_spin_unlock(lock) }
}
