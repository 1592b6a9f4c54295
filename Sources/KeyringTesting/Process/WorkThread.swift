internal import Foundation

/// A thread that runs what it is given, in order, each piece at its time.
///
/// Not a dispatch queue: tests that block the pool's threads would stop it, and a child that dies
/// with its parent's thread needs a thread that stays.
final class WorkThread: Sendable {
  /// Lives as long as the process: starts the children and keeps the deadlines.
  static let shared = WorkThread("KeyringTesting")

  private let jobs: Jobs

  init(_ name: String) {
    let jobs = Jobs()
    self.jobs = jobs
    let thread = Thread { jobs.runAll() }
    thread.name = name
    thread.start()
  }

  // The thread ends by itself: this code may be running on it.
  deinit { jobs.end() }

  /// Runs `body` after that time, behind what is due before it.
  func post(after delay: Duration = .zero, _ body: @escaping @Sendable () -> Void) {
    jobs.add(due: .now + delay, body)
  }

  /// Runs `body` on the thread and waits for it; not for use on the thread itself.
  func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) -> Result {
    let result = Guarded<Result?>(nil)
    let done = DispatchSemaphore(value: 0)
    post {
      let value = body()
      result.withLock { $0 = value }
      done.signal()
    }
    done.wait()
    return result.withLock { $0! }
  }
}

private final class Jobs: @unchecked Sendable {
  // The rest is touched only while this is locked.
  private let condition = NSCondition()

  private struct Job {
    let due: ContinuousClock.Instant
    let body: @Sendable () -> Void
  }

  private var waiting: [Job] = []
  private var isOver = false

  func add(due: ContinuousClock.Instant, _ body: @escaping @Sendable () -> Void) {
    condition.withLock {
      let index = waiting.firstIndex { $0.due > due } ?? waiting.endIndex
      waiting.insert(Job(due: due, body: body), at: index)
      condition.signal()
    }
  }

  func end() {
    condition.withLock {
      isOver = true
      condition.signal()
    }
  }

  func runAll() {
    while let job = next() { job.body() }
  }

  private func next() -> Job? {
    condition.lock()
    defer { condition.unlock() }
    while !isOver {
      guard let first = waiting.first else {
        condition.wait()
        continue
      }
      let remaining = ContinuousClock.now.duration(to: first.due)
      if remaining <= .zero { return waiting.removeFirst() }
      _ = condition.wait(until: Date(timeIntervalSinceNow: remaining / .seconds(1)))
    }
    return nil
  }
}
