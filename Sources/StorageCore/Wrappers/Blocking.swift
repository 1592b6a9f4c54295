internal import CryptoCore
internal import Dispatch

/// Runs blocking calls on threads of their own, since Swift concurrency has only as many as cores.
package enum Blocking {
  /// Executors that are idle.
  private static let idle = Lock<[BlockingExecutor]>([])

  /// Runs `body` to its end, as a part of the task, with a ``Cancellation`` that follows the task's.
  package static func run<Success: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () throws(Failure) -> Success
  ) async throws(Failure) -> Success {
    let cancellation = Cancellation()
    let start = ContinuousClock.now
    let executor = idle.withLock { $0.popLast() } ?? BlockingExecutor()
    defer { idle.withLock { $0.append(executor) } }
    // The handler takes errors of no type but `any Error`.
    let result = await withTaskCancellationHandler {
      await withTaskExecutorPreference(executor) {
        cancellation.delay(by: start.duration(to: .now))
        return Cancellation.$current.withValue(cancellation) { Result(catching: body) }
      }
    } onCancel: {
      cancellation.cancel()
    }
    return try result.get()
  }
}

/// Runs a task on a thread that may block.
///
/// The task stays the same, with its task-local values, so what overrides an injection or names a test
/// holds in the body, too.
///
/// Each has a serial queue, which gets a thread at once, where Dispatch makes one of at most 255. A
/// concurrent queue gets its threads from the pool that Swift's tasks run on, too, which grows by
/// one a second: fifty calls that wait would hold it for as long.
private final class BlockingExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "SecurePropertyStorage.blocking")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// Whether the task is cancelled for which a thread makes a blocking call.
package final class Cancellation: Sendable {
  /// That of the blocking call which the thread is in, or nil when nobody can cancel it.
  @TaskLocal package static var current: Cancellation?

  private struct State {
    var isCancelled = false
    var delay = Duration.zero
    var nextID = 0
    var actions: [Int: @Sendable () -> Void] = [:]
  }
  private let state = Lock(State())

  /// Not cancelled.
  package init() {}

  /// Whether it was cancelled.
  package var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Cancels, and runs what waits for that.
  package func cancel() {
    let actions = state.withLock { state in
      state.isCancelled = true
      defer { state.actions = [:] }
      return Array(state.actions.values)
    }
    for action in actions { action() }
  }

  fileprivate func delay(by duration: Duration) { state.withLock { $0.delay = duration } }

  /// How long the call has waited for a thread; asked for once, by what is to be that much shorter.
  package func takeDelay() -> Duration {
    state.withLock { state in
      defer { state.delay = .zero }
      return state.delay
    }
  }

  /// Runs `action` once it is cancelled, at once if it is already, until the observation is released.
  package func whenCancelled(_ action: @escaping @Sendable () -> Void) -> ChangeObservation {
    let id = state.withLock { state -> Int? in
      guard !state.isCancelled else { return nil }
      defer { state.nextID += 1 }
      state.actions[state.nextID] = action
      return state.nextID
    }
    guard let id else {
      action()
      return ChangeObservation {}
    }
    return ChangeObservation { [self] in state.withLock { $0.actions[id] = nil } }
  }
}
