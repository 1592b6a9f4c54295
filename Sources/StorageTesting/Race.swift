internal import CryptoCore
internal import Foundation
internal import Glibc
internal import Synchronization

/// Two threads that call a closure at the same moment, repeatedly.
final class Race: Sendable {
  /// How long a thread spins for the other one before it sleeps.
  ///
  /// Long enough that both are often awake at once on a busy machine.
  private static let patience = Duration.milliseconds(1)
  private static let limit = Duration.seconds(5)

  private let arrivals = Atomic<Int>(0)
  private let isOver = Atomic<Bool>(false)
  /// How many threads are in `body`, and in how many rounds both were.
  private let inside = Atomic<Int>(0)
  private let overlaps = Atomic<Int>(0)
  private let failure = Lock<(any Error)?>(nil)

  /// Runs `body` on both threads in each round, and `judge` after each round.
  ///
  /// - Parameters:
  ///   - rounds: the number of rounds in which both threads must be in `body` at once. On one core
  ///     that is rare: the race then ends after 5 seconds, but not before this many rounds have
  ///     run.
  ///   - body: gets the round and the number of the thread, 0 or 1.
  ///   - judge: gets the round; runs on the calling thread while the other one waits.
  /// - Throws: the first error of `body` or `judge`; no further round is run.
  static func run(
    rounds: Int, _ body: @escaping @Sendable (_ round: Int, _ thread: Int) throws -> Void,
    judge: (_ round: Int) throws -> Void
  ) throws {
    let race = Race()
    let isDone = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      race.attempt {
        // This thread waits for the next start while the other one judges.
        for round in 0... where try !race.run(round, 1, body) { return }
      }
      isDone.signal()
    }
    race.attempt {
      let end = ContinuousClock.now + limit
      for round in 0..<20 * rounds
      where race.overlaps.load(ordering: .relaxed) < rounds && (round < rounds || .now < end) {
        guard try race.run(round, 0, body) else { return }
        try judge(round)
      }
    }
    race.isOver.store(true, ordering: .releasing)
    isDone.wait()
    if let error = race.failure.withLock({ $0 }) { throw error }
  }

  /// Runs one round on one thread; returns false when the race is over.
  private func run(
    _ round: Int, _ thread: Int, _ body: (Int, Int) throws -> Void
  ) throws -> Bool {
    meet()
    guard !isOver.load(ordering: .acquiring) else { return false }
    // One thread starts later, by another time in each round. If both arrive at the very same
    // moment, one waits at the first lock and wakes up only when the other has finished.
    if thread == round & 1 {
      for _ in 0..<(round &* 37) & 255 { _ = isOver.load(ordering: .acquiring) }
    }
    if inside.add(1, ordering: .relaxed).newValue == 2 { overlaps.add(1, ordering: .relaxed) }
    try body(round, thread)
    inside.subtract(1, ordering: .relaxed)
    meet()
    return !isOver.load(ordering: .acquiring)
  }

  /// Waits until both threads have arrived.
  private func meet() {
    let arrived = arrivals.add(1, ordering: .acquiringAndReleasing).newValue
    let all = (arrived + 1) & ~1
    var spun = 0
    let end = ContinuousClock.now + Self.patience
    while arrivals.load(ordering: .acquiring) < all, !isOver.load(ordering: .acquiring) {
      spun += 1
      guard spun.isMultiple(of: 256), .now > end else { continue }
      // The other thread may have no core to run on while this one spins. Not sched_yield(2): a
      // thread that wakes up is put on an idle core.
      usleep(50)
    }
  }

  private func attempt(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      failure.withLock { $0 = $0 ?? error }
      isOver.store(true, ordering: .releasing)
    }
  }
}
