import CryptoCore
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite struct SetOnceTests {
  /// Counts those of its kind that live.
  private final class Counted: Sendable {
    private let living: Lock<Int>

    init(_ living: Lock<Int>) {
      self.living = living
      living.withLock { $0 += 1 }
    }

    deinit { living.withLock { $0 -= 1 } }
  }

  private final class Owner: Sendable {
    let object = SetOnce<Counted>()
    /// How many threads are about to set it.
    let arrived = Atomic<Int>(0)
  }

  /// The threads meet before each try: one that is over before the next begins shows nothing.
  @Test func threadsThatSetAtTheSameTimeAllGetTheSameObject() {
    let living = Lock(0)
    let wrong = Lock(0)
    let owners = (0..<5000).map { _ in Owner() }
    Threads.run(2) { _ in
      for owner in owners {
        let new = Counted(living)
        owner.arrived.add(1, ordering: .acquiringAndReleasing)
        while owner.arrived.load(ordering: .acquiring) < 2 { sched_yield() }
        let mine = owner.object.storeIfNil(new)
        if owner.object.load() !== mine { wrong.withLock { $0 += 1 } }
      }
    }
    #expect(wrong.withLock { $0 } == 0)
    // What those that were late have brought is gone.
    #expect(living.withLock { $0 } == owners.count)
  }
}
