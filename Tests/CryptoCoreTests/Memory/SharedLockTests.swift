import CryptoCore
import Synchronization
import TestSupport
import Testing

/// A value that many threads read at once and one at a time changes.
struct SharedLockTests {
  private struct Pair: ~Copyable {
    var first = 0
    var second = 0
  }

  /// More threads than lanes, so that readers meet in one, too.
  private static let threads = 2 * Lanes.shared.count + 3

  @Test func noReaderSeesHalfOfAChange() {
    let lock = SharedLock(Pair())
    let halves = Atomic(0)
    Threads.run(Self.threads) { thread in
      for _ in 0..<2_000 {
        if thread % 4 == 0 {
          lock.withLock { pair in
            pair.first += 1
            pair.second += 1
          }
        } else if lock.read({ $0.first != $0.second }) {
          halves.add(1, ordering: .relaxed)
        }
      }
    }
    #expect(halves.load(ordering: .relaxed) == 0)
    let writers = (Self.threads + 3) / 4
    #expect(lock.read { $0.first } == writers * 2_000)
  }

  @Test func readersReadAtTheSameTime() {
    let lock = SharedLock(Pair())
    let inside = Atomic(0)
    let most = Atomic(0)
    Threads.run(2) { _ in
      lock.read { _ in
        most.max(inside.add(1, ordering: .sequentiallyConsistent).newValue, ordering: .relaxed)
        // Until the other one is inside as well; a lock for one reader at a time would never let it
        // in.
        while most.load(ordering: .relaxed) < 2 {}
      }
    }
    #expect(most.load(ordering: .relaxed) == 2)
  }
}
