internal import Glibc
internal import Synchronization

/// Lets readers borrow an object that a writer has published, and tells the writer when none does.
///
/// One for the process. Threads are spread over lanes, each in a cache line of its own, so two readers
/// write nothing that the other one reads. A reader occupies a lane for the time of a
/// copy; a writer that has replaced an object takes each lane once, and after that nobody borrows the
/// old one. A count of references in the object would do the same, and two threads that read one
/// object would take turns with its cache line.
@safe @usableFromInline
struct ReadGate: @unchecked Sendable {
  // The lanes are made once and never freed, and are touched as locks alone.
  /// A `pthread_spinlock_t`.
  ///
  /// Not an atomic flag: the compiler takes a store for something that can't release an object, so it may
  /// put off the counting of a reference until after the store. A function of the C library may do
  /// anything: what a reader does stays between the two calls.
  @usableFromInline typealias Lane = UnsafeMutablePointer<Int32>

  /// Two lines of 64 bytes, since processors fetch the neighbour as well.
  private static let stride = 128
  private static let largestCount = 64

  private let lanes: UnsafeMutableRawPointer
  private let count: Int
  /// Where a thread keeps the lane that it was in last, counted from 1.
  private let slot: pthread_key_t

  /// How many threads have read.
  private static let threads = Atomic<Int>(0)

  /// The gate of the process.
  static let shared = ReadGate()

  private init() {
    let processors = max(1, sysconf(Int32(_SC_NPROCESSORS_CONF)))
    count = min(max(4, 2 * processors), Self.largestCount)
    var slot = pthread_key_t()
    let result = unsafe pthread_key_create(&slot, nil)
    precondition(result == 0, "pthread_key_create failed with errno \(result)")
    self.slot = slot
    unsafe lanes = .allocate(byteCount: count * Self.stride, alignment: Self.stride)
    for index in 0..<count {
      let lane = unsafe (lanes + index * Self.stride).bindMemory(to: Int32.self, capacity: 1)
      let result = unsafe pthread_spin_init(lane, Int32(PTHREAD_PROCESS_PRIVATE))
      precondition(result == 0, "pthread_spin_init failed with errno \(result)")
    }
  }

  private func lane(_ index: Int) -> Lane {
    unsafe (lanes + index * Self.stride).assumingMemoryBound(to: Int32.self)
  }

  /// Occupies a lane; the caller then reads a pointer, copies what it leads to, and leaves.
  ///
  /// No lock is held meanwhile and no code of a caller runs. A thread stays with its lane until it meets
  /// another one there.
  @usableFromInline
  func enter() -> Lane {
    let last = unsafe Int(bitPattern: pthread_getspecific(slot))
    if last > 0 {
      let lane = unsafe lane(last - 1)
      if unsafe pthread_spin_trylock(lane) == 0 { return unsafe lane }
    }
    return unsafe enterAnother(than: last)
  }

  @inline(never)
  private func enterAnother(than last: Int) -> Lane {
    var index = last > 0 ? last : Self.threads.add(1, ordering: .relaxed).oldValue
    while true {
      for _ in 0..<count {
        index %= count
        let lane = unsafe lane(index)
        index += 1
        if unsafe pthread_spin_trylock(lane) == 0 {
          unsafe pthread_setspecific(slot, UnsafeRawPointer(bitPattern: index))
          return unsafe lane
        }
      }
      sched_yield()
    }
  }

  /// Gives a lane back.
  @usableFromInline
  func leave(_ lane: Lane) { unsafe pthread_spin_unlock(lane) }

  /// Whether nobody borrows any more what was replaced before the call.
  ///
  /// Taking a lane orders the two sides: its readers of before have left, and later ones see what was
  /// published. Never waits: false when a lane is occupied for long, as that of a thread that was
  /// suspended, or of one that fork(2) left behind in the parent.
  func isPassed() -> Bool {
    for index in 0..<count {
      let lane = unsafe lane(index)
      var attempts = 0
      while unsafe pthread_spin_trylock(lane) != 0 {
        attempts += 1
        guard attempts < 100 else { return false }
      }
      unsafe leave(lane)
    }
    return true
  }
}
