internal import Glibc

/// A value that many threads read at once and one at a time changes.
///
/// Each lane of threads has a lock of its own (see ``Lanes``). A reader takes the lock of its lane,
/// so two readers write to no cache line in common, and reads scale with the cores. A writer takes
/// the locks of all lanes: some 10 ns for each, and more for one that a reader on another core used
/// last. The rules of ``Lock`` hold: memory work only, no I/O and no caller's code inside `body`.
@safe @usableFromInline
package final class SharedLock<Value: ~Copyable>: @unchecked Sendable {
  // The value is written while all lanes are held, and read while one is. It is behind a pointer,
  // where the compiler adds no check of exclusive access of its own.
  @usableFromInline let gates: LaneGates
  @usableFromInline let value: UnsafeMutablePointer<Value>

  /// A lock around `value`.
  package init(_ value: consuming sending Value) {
    gates = LaneGates()
    unsafe self.value = .allocate(capacity: 1)
    unsafe self.value.initialize(to: value)
  }

  deinit {
    gates.destroy()
    unsafe value.deinitialize(count: 1)
    unsafe value.deallocate()
  }

  /// Runs `body` with the value, alone.
  @inlinable @inline(__always)
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    gates.closeAll()
    defer { gates.openAll() }
    return try unsafe body(&value.pointee)
  }

  /// Lends the value to `body`, beside other readers.
  ///
  /// `body` must not make references to what the value holds, if it is to be as quick beside other
  /// readers as alone: the counts of references are in lines that all of them write to.
  // Inlinable, as `Lock.withLock`.
  @inlinable @inline(__always)
  package func read<Result, Failure: Error>(
    _ body: (borrowing Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let gate = gates.close()
    defer { gates.open(gate) }
    return try unsafe body(value.pointee)
  }
}

/// The lanes of a ``SharedLock``, and the mutex at which writers meet.
///
/// A lane is a spin lock, which a reader holds for some 20 ns: half the price of a mutex. Nobody
/// spins for long: a reader that finds all lanes taken waits at the writers' mutex, and a writer
/// sleeps between its attempts where a reader was suspended in its lane.
///
/// Not generic, so that inlined code needs no C module.
@safe @usableFromInline
struct LaneGates: @unchecked Sendable {
  // Locks are there to be used by many threads. A `pthread_spinlock_t` is an int; not an atomic
  // flag of ours, for the reason that StorageCore's ``SpinGate`` has.
  private typealias Gate = UnsafeMutablePointer<Int32>

  private let start: UnsafeMutableRawPointer
  private let lanes = Lanes.shared
  private let writers = MutexPointer()

  init() {
    unsafe start = .allocate(byteCount: lanes.count * Lanes.stride, alignment: Lanes.stride)
    for lane in 0..<lanes.count {
      let gate = unsafe (start + Lanes.offset(lane)).bindMemory(to: Int32.self, capacity: 1)
      let result = unsafe pthread_spin_init(gate, Int32(PTHREAD_PROCESS_PRIVATE))
      precondition(result == 0, "pthread_spin_init failed with errno \(result)")
    }
  }

  func destroy() {
    for lane in 0..<lanes.count { unsafe pthread_spin_destroy(gate(lane)) }
    unsafe start.deallocate()
    writers.destroy()
  }

  @inline(__always)
  private func gate(_ lane: Int) -> Gate {
    unsafe (start + Lanes.offset(lane)).assumingMemoryBound(to: Int32.self)
  }

  @inline(__always)
  private func take(_ lane: Int) -> Bool { unsafe pthread_spin_trylock(gate(lane)) == 0 }

  /// Takes the calling thread's lane.
  ///
  /// - Returns: which lane to give back.
  @usableFromInline
  func close() -> Int {
    let lane = lanes.mine
    return take(lane) ? lane : closeAnother(than: lane)
  }

  /// Looks for a lane without another thread, and waits for its own where a writer has all of them.
  @inline(never)
  private func closeAnother(than mine: Int) -> Int {
    var lane = lanes.next(mine)
    while lane != mine {
      if take(lane) {
        leaveOwnLane(for: lane)
        return lane
      }
      lane = lanes.next(lane)
    }
    // With this mutex there is no writer, so only a reader can be in the lane.
    writers.lock()
    defer { writers.unlock() }
    takePatiently(mine)
    return mine
  }

  /// Moves the calling thread to another lane, if a reader was in its own.
  ///
  /// A writer takes all lanes in turn: readers that moved out of its way would wander over all of
  /// them.
  private func leaveOwnLane(for lane: Int) {
    guard writers.tryLock() else { return }
    writers.unlock()
    lanes.move(to: lane)
  }

  private func takePatiently(_ lane: Int) {
    var attempts = 0
    while !take(lane) {
      attempts += 1
      // A thread of a lower priority that was suspended in the lane runs only while this one
      // sleeps.
      if attempts < 100 { sched_yield() } else { usleep(50) }
    }
  }

  @usableFromInline
  func open(_ lane: Int) { unsafe pthread_spin_unlock(gate(lane)) }

  @usableFromInline
  func closeAll() {
    writers.lock()
    for lane in 0..<lanes.count { takePatiently(lane) }
  }

  @usableFromInline
  func openAll() {
    for lane in 0..<lanes.count { open(lane) }
    writers.unlock()
  }
}
