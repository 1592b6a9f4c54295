internal import Glibc
internal import Synchronization

/// Spreads threads over a few numbered lanes, so that two threads rarely write to one cache line.
///
/// A thread gets its lane at its first use and stays there until another reader gets in its way.
/// What is kept for each lane has cache lines of its own: ``stride`` bytes apart.
@safe @usableFromInline
package struct Lanes: Sendable {
  /// The distance between two lanes in memory: two lines of 64 bytes, since processors fetch the
  /// neighbour as well.
  @inline(__always) package static var stride: Int { 128 }
  private static let largestCount = 64

  /// How many threads have asked for a lane.
  private static let threads = Atomic<Int>(0)

  /// The lanes of the process.
  package static let shared = Lanes()

  /// How many lanes there are: a power of two, at least 4 and at least two for each processor, up
  /// to 64.
  package let count: Int
  /// Where a thread keeps its lane, counted from 1.
  private let slot: pthread_key_t

  private init() {
    let processors = max(2, sysconf(Int32(_SC_NPROCESSORS_CONF)))
    var count = 4
    while count < min(2 * processors, Self.largestCount) { count *= 2 }
    self.count = count
    var slot = pthread_key_t()
    let result = unsafe pthread_key_create(&slot, nil)
    // A program may have used up its 1,024 keys: then a thread asks for another lane with each use.
    // pthread_getspecific(3) has a null pointer for a key that there is not.
    self.slot = result == 0 ? slot : .max
  }

  /// The lane of the calling thread.
  @inline(__always)
  package var mine: Int {
    let last = unsafe Int(bitPattern: pthread_getspecific(slot))
    return last > 0 ? last &- 1 : first()
  }

  /// The lane behind another one; behind the last one comes the first.
  @inline(__always)
  package func next(_ lane: Int) -> Int { (lane &+ 1) & (count &- 1) }

  /// How far from the first lane's memory that of a lane is, in bytes.
  @inline(__always)
  package static func offset(_ lane: Int) -> Int { lane &* stride }

  /// Moves the calling thread to another lane, where it found nobody.
  package func move(to lane: Int) {
    // Without memory for it the thread asks again the next time.
    unsafe pthread_setspecific(slot, UnsafeRawPointer(bitPattern: lane + 1))
  }

  @inline(never)
  private func first() -> Int {
    let lane = Self.threads.add(1, ordering: .relaxed).oldValue & (count - 1)
    move(to: lane)
    return lane
  }
}
