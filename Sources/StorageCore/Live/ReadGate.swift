internal import CryptoCore
internal import Glibc

/// Lets readers borrow an object that a writer has published, and tells the writer when no reader
/// has the old object any more.
///
/// The process has one. Threads are spread over lanes (see ``Lanes``), so two readers write to no
/// cache line in common. A reader occupies its lane while it copies the object's value. A writer
/// that has replaced an object takes each lane once; after that no reader borrows the old object. A
/// count of references in the object would do the same, but all threads that read one object would
/// write to that count.
@safe @usableFromInline
struct ReadGate: @unchecked Sendable {
  // The lanes are made once and never freed, and are touched as locks alone.
  /// A `pthread_spinlock_t`.
  ///
  /// Not an atomic flag: the compiler takes a store for something that can't release an object, so
  /// it may put off the counting of a reference until after the store. A function of the C library
  /// may do anything: what a reader does stays between the two calls.
  @usableFromInline typealias Lane = UnsafeMutablePointer<Int32>

  private let start: UnsafeMutableRawPointer
  private let lanes = Lanes.shared

  /// The gate of the process.
  static let shared = ReadGate()

  private init() {
    unsafe start = .allocate(byteCount: lanes.count * Lanes.stride, alignment: Lanes.stride)
    for index in 0..<lanes.count {
      let lane = unsafe (start + index * Lanes.stride).bindMemory(to: Int32.self, capacity: 1)
      let result = unsafe pthread_spin_init(lane, Int32(PTHREAD_PROCESS_PRIVATE))
      precondition(result == 0, "pthread_spin_init failed with errno \(result)")
    }
  }

  @inline(__always)
  private func lane(_ index: Int) -> Lane {
    unsafe (start + index * Lanes.stride).assumingMemoryBound(to: Int32.self)
  }

  /// Occupies a lane; the caller then reads a pointer, copies what it leads to, and leaves.
  ///
  /// The caller takes no lock meanwhile and runs no code of a user.
  @usableFromInline
  func enter() -> Lane {
    let mine = lanes.mine
    let lane = unsafe lane(mine)
    if unsafe pthread_spin_trylock(lane) == 0 { return unsafe lane }
    return unsafe enterAnother(than: mine)
  }

  @inline(never)
  private func enterAnother(than mine: Int) -> Lane {
    var index = mine
    var rounds = 0
    while true {
      for _ in 0..<lanes.count {
        index = (index + 1) & (lanes.count - 1)
        let lane = unsafe lane(index)
        if unsafe pthread_spin_trylock(lane) == 0 {
          lanes.move(to: index)
          return unsafe lane
        }
      }
      rounds += 1
      // A thread of a lower priority that was suspended in its lane runs only while this one
      // sleeps.
      if rounds < 100 { sched_yield() } else { usleep(50) }
    }
  }

  /// Gives a lane back.
  @usableFromInline
  func leave(_ lane: Lane) { unsafe pthread_spin_unlock(lane) }

  /// Whether no reader borrows any more what was replaced before the call.
  ///
  /// Taking a lane orders the two sides: earlier readers of the lane have left, and later ones see
  /// what was published. Never waits: false when a lane stays occupied, as that of a suspended
  /// thread, or of a thread that fork(2) left behind in the parent.
  func isPassed() -> Bool {
    for index in 0..<lanes.count {
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
